package codec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	one, two := material(1), material(2)
	for name, text := range map[string]string{
		"commas":            one + "," + two,
		"commas and spaces": " " + one + " , " + two + " ",
		"lines":             one + "\n" + two + "\n",
		"CRLF":              one + "\r\n" + two + "\r\n",
		"comments":          "# new\n" + one + "\n\n  # old\n" + two,
	} {
		keys, err := Parse(text)
		if err != nil || len(keys) != 2 || string(keys[0].Secret) != "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x20" || keys[0].ID == keys[1].ID {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
	// An id is for good: histories hold it. HMAC-SHA256 by another implementation.
	keys, err := Parse(one)
	if err != nil || keys[0].ID != "127fc37bec5c558b" {
		t.Errorf("id %v, %v", keys, err)
	}
}

func TestParseRefuses(t *testing.T) {
	one := material(1)
	short := base64.StdEncoding.EncodeToString([]byte("thirty-one bytes, which is few!"))
	var many []string
	for seed := range byte(maxKeys + 1) {
		many = append(many, material(seed))
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {"", "no key"},
		"only comments":   {"# none\n \n", "no key"},
		"not base64":      {"sesame, open!", "key 1: it is not base64"},
		"URL base64":      {strings.NewReplacer("A", "_").Replace(one), "key 1: it is not base64"},
		"no padding":      {strings.TrimRight(one, "="), "key 1: it is not base64"},
		"loose last bits": {one[:len(one)-2] + "B=", "key 1: it is not base64"},
		"an empty entry":  {one + ",," + material(2), "key 2: it has 0 bytes"},
		"a comma at last": {one + ",", "key 2: it has 0 bytes"},
		"short":           {one + "\n" + short, "key 2: it has 31 bytes, not 32"},
		"hex":             {strings.Repeat("0f", 32), "key 1: it has 48 bytes, not 32"},
		"a placeholder":   {base64.StdEncoding.EncodeToString(make([]byte, 32)), "key 1: all its bytes are the same"},
		"twice":           {one + "," + material(3) + "," + one, "key 3 is key 1 again"},
		"too many":        {strings.Join(many, ","), "more than 16 keys"},
	} {
		keys, err := Parse(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) || keys != nil {
			t.Errorf("%s: %v, %v; want %q", name, keys, err, test.want)
		}
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	keys, err := Parse(material(0x41)) // "ABC..."
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	c := codecOf(t, 0x41)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %x", keys, keys, keys, keys, keys), string(encoded), fmt.Sprintf("%+v", c)} {
		for _, form := range []string{"ABCDEFGH", "4142434445", "QUJDREVG", "65 66 67"} {
			if strings.Contains(text, form) {
				t.Errorf("%q is in %s", form, text)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(material(1) + "," + material(2))
	f.Add("# c\n" + material(1) + "\n")
	f.Add("Z" + material(1))
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := Parse(text)
		if err != nil {
			for _, word := range strings.Fields(text) {
				if len(word) > 20 && strings.Contains(err.Error(), word) {
					t.Errorf("the error shows %q: %v", word, err)
				}
			}
			return
		}
		if _, err := New(keys); err != nil {
			t.Errorf("parsed keys make no codec: %v", err)
		}
	})
}
