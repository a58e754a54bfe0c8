package chat

import (
	"strings"
	"unicode/utf8"
)

// end is the token that ends an answer.
const end = 151645

// Fragment is a token that ends inside a character.
const Fragment = "\xe9\x81"

// token is one entry of the vocabulary.
type token struct {
	id   int
	text string
}

// words are the tokens that matter, with the ids and the cuts of Qwen2.5's
// vocabulary, so that what collides there collides here; "|" parts the entries.
// Lower-case tactic names and the filler have ids of their own.
const words = `32:A|33:B|362: A|425: B|14004:YES|8996:NO|9454:Yes|2753:No|9693:yes|2152:no` +
	`|14080: YES|5664: NO|7414: Yes|2308: No|9834: yes|902: no` +
	`|14603:Acc|11429: Acc|355:us|367:ation|27169:Brand|16430: Brand|10976:ishing|7416: Ang|261:er` +
	`|23619:Den|9774: Den|530:ial|36:E|468: E|57993:vasion|6123:Fe|3841: Fe|622:ign|287:ing|83493: Innoc|763:ence` +
	`|1072:Int|1333: Int|98494:imid|58642:Pers|20465: Pers|84:u|17766:asion|476: or|35278: Sed|2654:uction` +
	`|27471:Playing|39451: Playing|26224: Serv|517:ant|15404: Role|93024: Victim` +
	`|49:R|1663:ational|54525: Rational|2022:ization|2016:Sh|1417: Sh|6469:aming|7828: Bel|1442:itt|986:lement` +
	`|6697:none|6857: none|200001:acc|200002: acc|200003:brand|200004: brand|200005: ang|200006:den|200007: den` +
	`|200008:evasion|200009: evasion|200010:fe|200011: fe|200012: innoc|200013:int|200014: int|200015:pers|200016: pers` +
	`|200017: sed|200018:playing|200019: playing|200020: serv|200021: role|200022: victim|200023:rational|200024: rational` +
	`|200025:sh|200026: sh|200027: bel`

// filler is what the model could say, but nobody asks for.
const filler = ` the| a| you| I| it| is| was| that| not| what| me| my| your| so| if| do| can| will| we| they| all| just| know` +
	`| want| like| go| get| here| there| now| then| time| good| well| right| please| sorry| never| always| think| see| feel` +
	`|The|This|It|In|They|There|He|She|You|I|Hmm|Oh|Silence|Tone|Beep|Music|Speech|Noise|Hum|K|7|Q|3|.|,|!|?|'|"|` + "\n"

// vocabulary is all tokens; the end token comes last.
var vocabulary = readVocabulary()

func readVocabulary() []token {
	var out []token
	for _, entry := range strings.Split(words, "|") {
		id, text, _ := strings.Cut(entry, ":")
		n := 0
		for _, digit := range id {
			n = 10*n + int(digit-'0')
		}
		out = append(out, token{n, text})
	}
	for i, text := range strings.Split(filler, "|") {
		out = append(out, token{210000 + i, text})
	}
	out = append(out, token{220000, Fragment})
	return append(out, token{end, ""})
}

// byFirst is the vocabulary by its tokens' first byte.
var byFirst = indexVocabulary()

func indexVocabulary() (index [256][]token) {
	for _, t := range vocabulary {
		if t.text != "" {
			index[t.text[0]] = append(index[t.text[0]], t)
		}
	}
	return index
}

// tokenize cuts text into tokens: the longest that fits first, unknown
// characters one by one with ids beyond the vocabulary.
func tokenize(text string) []token {
	var out []token
	for text != "" {
		best := token{}
		for _, t := range byFirst[text[0]] {
			if len(t.text) > len(best.text) && strings.HasPrefix(text, t.text) {
				best = t
			}
		}
		if best.text == "" {
			r, size := utf8.DecodeRuneInString(text)
			best = token{300000 + int(r), text[:size]}
		}
		out = append(out, best)
		text = text[len(best.text):]
	}
	return out
}
