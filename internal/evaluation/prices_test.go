package evaluation

import (
	"math"
	"os"
	"strings"
	"testing"
)

func TestParsePrices(t *testing.T) {
	got, err := ParsePrices([]byte(`
currency = "USD"
[speech]
credits_per_character = 0.5
price_per_1000_credits = 0.165
[detector]
price_per_call = 0.0004
`))
	want := Prices{Currency: "USD", MilliCredits: 500, Credit: 165, DetectorCall: 400}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	got, err = ParsePrices([]byte("currency = \"EUR\"\ndetector.price_per_call = 1"))
	if want := (Prices{Currency: "EUR", DetectorCall: 1_000_000}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestPricesThatAreRefused(t *testing.T) {
	const speech = "currency = \"USD\"\n[speech]\ncredits_per_character = 1\n"
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":       {speech + "price_per_1000_credits = 1\nprice_per_1000 = 2", "unknown key speech.price_per_1000;"},
		"no currency":       {"detector.price_per_call = 1", `currency "": use three capital letters`},
		"currency sign":     {"currency = \"$\"\ndetector.price_per_call = 1", `currency "$"`},
		"nothing":           {`currency = "USD"`, "it holds no price"},
		"half of a price":   {speech, "go together"},
		"negative":          {speech + "price_per_1000_credits = -0.3", `speech.price_per_1000_credits: "-0.3" is no amount`},
		"minus nothing":     {speech + "price_per_1000_credits = -0.0", `"-0" is no amount`},
		"not a number":      {speech + "price_per_1000_credits = nan", `"NaN" is no amount`},
		"infinite":          {speech + "price_per_1000_credits = inf", `"+Inf" is no amount`},
		"too fine":          {speech + "price_per_1000_credits = 0.1234", "0.1234 has more than 3 decimals"},
		"too much":          {speech + "price_per_1000_credits = 10000.001", "10000.001 is above 10000"},
		"huge":              {speech + "price_per_1000_credits = 1e300", "is above 10000"},
		"text":              {speech + `price_per_1000_credits = "0.30"`, "use a number"},
		"no TOML":           {"currency: USD", "read prices:"},
		"twice":             {"currency = \"USD\"\ncurrency = \"EUR\"", "currency"},
		"several at a time": {"[speech]\ncredits_per_character = -1\n[gpu]\nhour = 2", `"-1" is no amount`},
	} {
		got, err := ParsePrices([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || got != (Prices{}) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, got, err, c.want)
		}
	}
	_, err := ParsePrices([]byte("[speech]\ncredits_per_character = -1\n[gpu]\nhour = 2"))
	for _, want := range []string{"unknown key gpu", "currency", "go together", "-1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v leaves out %q", err, want)
		}
	}
}

// The example that operators copy must work, whatever its prices are.
func TestExamplePrices(t *testing.T) {
	text, err := os.ReadFile("../../infra/prices.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePrices(text)
	if err != nil || p.Currency == "" || p.MilliCredits == 0 || p.Credit == 0 || p.DetectorCall == 0 {
		t.Errorf("%+v, %v: want every price to be set", p, err)
	}
}

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		text string
		want Micros
		back string
	}{
		{"0", 0, "0.00"}, {"12.50", 12_500_000, "12.50"}, {"12.5", 12_500_000, "12.50"}, {"0.1", 100_000, "0.10"},
		{"0.000001", 1, "0.000001"}, {"007", 7_000_000, "7.00"}, {"3.1400000000000", 3_140_000, "3.14"},
		{"1000000000", 1e15, "1000000000.00"}, {"0.29", 290_000, "0.29"}, {"1.005", 1_005_000, "1.005"},
	} {
		got, err := ParseMoney(c.text)
		if err != nil || got != c.want || got.String() != c.back {
			t.Errorf("%q: %d (%s), %v; want %d (%s)", c.text, got, got, err, c.want, c.back)
		}
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "1,50", "1_000", "NaN", "Inf", "0x10", "1 ", "٣", "0.0000001", "1000000000.000001", strings.Repeat("9", 40)} {
		if got, err := ParseMoney(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
	for m, want := range map[Micros]string{-1_500_000: "-1.50", -1: "-0.000001", math.MinInt64: "-9223372036854.775808"} {
		if got := m.String(); got != want {
			t.Errorf("%d prints %s, want %s", int64(m), got, want)
		}
	}
	if got := (Prices{Currency: "USD"}).Amount(2_500_000); got != "2.50 USD" {
		t.Errorf("got %q", got)
	}
	if got := (Prices{}).Amount(0); got != "no price known" {
		t.Errorf("got %q", got)
	}
}

func FuzzParseMoney(f *testing.F) {
	for _, seed := range []string{"12.50", "0.000001", "-1", "1e3", ".", "1000000000.000001", "00.10"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseMoney(text)
		if err != nil {
			return
		}
		if got < 0 || got > maxMoney*1_000_000 {
			t.Errorf("%q is read as %d", text, int64(got))
		}
		if again, err := ParseMoney(got.String()); err != nil || again != got {
			t.Errorf("%q is %d, printed %s and read as %d, %v", text, int64(got), got, int64(again), err)
		}
	})
}

func FuzzParsePrices(f *testing.F) {
	for _, seed := range []string{
		"currency = \"USD\"\n[speech]\ncredits_per_character = 1.0\nprice_per_1000_credits = 0.30\n[detector]\nprice_per_call = 0.0004\n",
		"currency = \"EUR\"\ndetector.price_per_call = 1", "[speech]\ncredits_per_character = nan", "speech = 3", "detector = []",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePrices(text)
		if err != nil {
			if p != (Prices{}) {
				t.Errorf("%v, and still %+v", err, p)
			}
			return
		}
		// A thousand million of each is the largest evaluation that is thought of.
		const many = 1_000_000_000
		if cost := p.Speech(many, many).Add(p.Questions(many)); p.MilliCredits < 0 || p.Credit < 0 || p.DetectorCall < 0 || cost.Money < 0 {
			t.Errorf("%+v makes %+v", p, cost)
		}
	})
}
