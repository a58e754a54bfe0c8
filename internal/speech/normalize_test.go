package speech

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "Hello there. How are you?", "Hello there. How are you?"},
		{"lines and tabs", "  One\n\ttwo\r\nthree\u00a0four ", "One two three four"},

		{"typographic quotes", "“It’s ‘fine’,” he said.", `"It's 'fine'," he said.`},
		{"backquotes", "You mean we get `Dave' to come", "You mean we get 'Dave' to come"},
		{"doubled quotes", "``Well,'' she said", `"Well," she said`},
		{"em dash", "Wait — what", "Wait, what"},
		{"em dash without space", "Wait—what?", "Wait, what?"},
		{"en dash range", "1990–95", "1990-95"},
		{"ellipsis", "Well… no", "Well... no"},
		{"accents stay", "Café naïve re\u0301sume\u0301", "Café naïve résumé"},
		{"other scripts stay", "Привет, 日本。また", "Привет, 日本. また"},
		{"combining mark on nothing", "a \u0301b", "a b"},
		{"zero width and direction marks", "so\u200bft\u00ad \u202ehi\ufeff", "soft hi"},
		{"control characters", "a\x00b\x07 c", "ab c"},
		{"lost character", "Oh my gosh\uFFFDI feel", "Oh my gosh I feel"},
		{"lost apostrophe", "I don\uFFFDt, they\uFFFDre", "I don't, they're"},
		{"broken UTF-8 apostrophe", "don\x92t", "don't"},
		{"emoji and other symbols", "Fine 😀 ♪ la la ♪ ™", "Fine la la"},

		{"entities", "Jack &amp; Jill &lt;3 &#39;now&#39;", "Jack and Jill 3 'now'"},
		{"tags", "<b>Stop</b> it <break time=\"1s\"/> now<!-- note -->", "Stop it now"},
		{"ampersand", "my ma & pa, R&B", "my ma and pa, R and B"},
		{"less than", "I want it < seven, and 3<4", "I want it less than seven, and 3 less than 4"},
		{"greater than", "a > b", "a greater than b"},
		{"heart", "I <3 you", "I 3 you"},
		{"mail quote", "> hello", "hello"},
		{"arithmetic", "2 + 2 = 4", "2 plus 2 equals 4"},
		{"plus as debris", "                    + determined.", "determined."},
		{"mail address", "me@x.com @home", "me at x.com home"},
		{"number sign", "jump to #12 #now", "jump to number 12 now"},
		{"money and percent", "$3,000 or 40% of $ and %", "$3,000 or 40% of and"},
		{"slashes", "and/or 1/2, 9/11, 24/7, 1/2/3", "and or 1/2, 9 11, 24 7, 1 2 3"},
		{"bar as debris", "the apartment.  |The first time", "the apartment. The first time"},

		{"stage direction", "[sighs] I know [beat] it", "I know it"},
		{"nested stage direction", "[he [slowly] turns] Now", "Now"},
		{"editor's note", "every skell [Skell: the lowest form - a bum] here", "every skell here"},
		{"bracket without partner", "    ] and tell [her", "and tell her"},
		{"starred direction", "*sighs* Fine. *rolls eyes* *laughing softly*", "Fine. rolls eyes"},
		{"starred emphasis", "I *never* said **that**", "I never said that"},
		{"spoken parentheses", "My wife (she left) called", "My wife, she left, called"},
		{"direction in parentheses", "(sighs) Fine. (pause) Go (laughing)", "Fine. Go"},
		{"no direction", "(smiles are free, you know that) yes (pause it there)", "smiles are free, you know that, yes, pause it there"},
		{"parenthesis without partner", " ) The track?", "The track?"},
		{"emphasis", "The strength of _knowledge_.  \"_You_\" too", `The strength of knowledge. " You " too`},
		{"name with underscore", "my snake_case", "my snake case"},

		{"double hyphen", "it-- well -- no--it", "it, well, no, it"},
		{"cut off", "I was just going--", "I was just going"},
		{"cut off before a mark", "What the--?! No--.", "What the? No."},
		{"loose hyphen", "the form - a bum, five- no", "the form, a bum, five, no"},
		{"leading hyphen", "-Hello, -- yes", "Hello, yes"},
		{"hyphenated", "a G-34, well-known", "a G-34, well-known"},
		{"minus", "-5 degrees or -6", "-5 degrees or -6"},
		{"rule of hyphens", "---------- So", "So"},

		{"ellipses with words", "going up...$3,000...do you", "going up... $3,000... do you"},
		{"spaced ellipsis", "Well . . . no....yes", "Well... no... yes"},
		{"leading ellipsis", "...so what", "so what"},
		{"many marks", "What?!?! No!!! Yes!?", "What? No! Yes?"},
		{"space before marks", "Well , no . Yes !", "Well, no. Yes!"},
		{"no space after marks", "no;yes?well,go!now", "no; yes? well, go! now"},
		{"decimal point", "a .38, 3.5 and U.S.A. at 3:30", "a .38, 3.5 and U.S.A. at 3:30"},
		{"leading decimal point", ".38 special", ".38 special"},
		{"comma at the end", "but,", "but"},
		{"mark inside quotes", `He said "No..." and "Well--"`, `He said "No..." and "Well, "`},

		{"shouted", "I DON'T KNOW, YOU'RE CRAZY. GET OUT!", "I don't know, you're crazy. get out!"},
		{"acronyms", "The FBI, a TV, NASA's OK, DNA, IBM and LAPD", "The FBI, a TV, NASA's OK, DNA, IBM and LAPD"},
		{"ambiguous capitals", "IT and US, LA'S, III, I AM A", "IT and US, LA'S, III, I AM A"},
		{"shouted accents", "ÇA VA MÈRE", "ÇA VA mère"},
		{"drawn out", "NOOOOOOO! Yeahhhh, hmmmmm, soooo, riiight xiii www", "noo! Yeah, hm, soo, riiight xiii www"},

		{"digits only", "42", "42"},
		{"looks like a file", "turn.txt", "turn.txt"},
		{"looks like an option", "--help", "help"},
		{"looks like a response file", "@turn", "turn"},
		{"shell", "$(rm -rf) `id` \"; ls | cat", `rm rf, 'id' "; ls cat`},

		{"empty", "", ""},
		{"dots", "...", ""},
		{"marks", "?! -- \"'", ""},
		{"direction only", "[sighs]", ""},
		{"emoji only", "😀", ""},
	} {
		if got := Normalize(c.text); got != c.want {
			t.Errorf("%s: Normalize(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestHasWords(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "...": false, " ?! ": false, "-": false, "a": true, "7": true, "é": true, "日": true, "Ⅳ": true,
	} {
		if got := HasWords(text); got != want {
			t.Errorf("HasWords(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"Café naïve résumé":      "Cafe naive resume",
		"Straße, Ærø, œuvre":     "Strasse, AEro, oeuvre",
		"ﬁne, ½ of £5":           "fine, 1/2 of pounds 5",
		"Привет, yes":            ", yes",
		"日本":                     "",
		"plain \"quotes\" 'too'": "plain \"quotes\" 'too'",
	} {
		if got := ASCII(text); got != want {
			t.Errorf("ASCII(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		"", "Hello -- [sighs] “you’re” *so* (laughs) _very_ LOUD!!!", "a<b>c</b> &amp;lt; &#0; < 3", "\xff\xfe don\x92t",
		"... .38 ,., ?! - -5 1/2 #1 $5 50% a_b", "((((sighs) sighs)", "e\u0301\u200d\u0301 İSTANBUL ǅ ≮ ;`´''",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Normalize(text)
		if !utf8.ValidString(got) {
			t.Errorf("Normalize(%q) = %q is not UTF-8", text, got)
		}
		if again := Normalize(got); again != got {
			t.Errorf("Normalize(%q) = %q, and again %q", text, got, again)
		}
		if limit := 16*len(text) + 16; len(got) > limit { // one ">" becomes " greater than "
			t.Errorf("Normalize makes %d bytes of %d", len(got), len(text))
		}
		if got != strings.TrimSpace(got) || strings.ContainsAny(got, "\n\r\t<>[]*_&@#|\\^`~{}()") || strings.Contains(got, "--") {
			t.Errorf("Normalize(%q) = %q keeps what it must not", text, got)
		}
		if (got != "") != HasWords(got) {
			t.Errorf("Normalize(%q) = %q has no word", text, got)
		}
		for _, r := range ASCII(got) {
			if r < ' ' || r > '~' {
				t.Errorf("ASCII(%q) holds %q", got, r)
			}
		}
	})
}
