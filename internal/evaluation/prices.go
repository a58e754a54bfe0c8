package evaluation

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// priceFile is a price table as an operator writes it.
type priceFile struct {
	Currency string `toml:"currency"`
	Speech   struct {
		CreditsPerCharacter *decimal `toml:"credits_per_character"`
		PricePer1000Credits *decimal `toml:"price_per_1000_credits"`
	} `toml:"speech"`
	Detector struct {
		PricePerCall *decimal `toml:"price_per_call"`
	} `toml:"detector"`
}

// What a price may be at most: so that no sum of an evaluation overflows, and as
// a price above is a mistake in every currency.
const (
	maxCreditsPerCharacter = 100
	maxPricePer1000Credits = 10_000
	maxPricePerCall        = 1_000
	maxMoney               = 1_000_000_000
)

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

// ParsePrices reads a price table from TOML. A key that means nothing is an error
// that names it, as a misspelt price must not count as none. The error names
// every problem.
func ParsePrices(text []byte) (Prices, error) {
	var file priceFile
	meta, err := toml.Decode(string(text), &file)
	if err != nil {
		return Prices{}, fmt.Errorf("read prices: %w", err)
	}
	var errs []error
	for _, key := range meta.Undecoded() {
		errs = append(errs, fmt.Errorf("unknown key %s; prices have currency, speech.credits_per_character, speech.price_per_1000_credits and detector.price_per_call", key))
	}
	if !currencyForm.MatchString(file.Currency) {
		errs = append(errs, fmt.Errorf("currency %q: use three capital letters such as USD", file.Currency))
	}
	speech, detector := file.Speech, file.Detector
	if (speech.CreditsPerCharacter == nil) != (speech.PricePer1000Credits == nil) {
		errs = append(errs, errors.New("speech: credits_per_character and price_per_1000_credits go together"))
	}
	if speech.CreditsPerCharacter == nil && speech.PricePer1000Credits == nil && detector.PricePerCall == nil {
		errs = append(errs, errors.New("it holds no price"))
	}
	read := func(name string, d *decimal, places, most int64) int64 {
		value, err := d.integer(places, most)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		return value
	}
	p := Prices{
		Currency:     file.Currency,
		MilliCredits: read("speech.credits_per_character", speech.CreditsPerCharacter, 3, maxCreditsPerCharacter),
		// A thousandth for a thousand credits is a millionth for one.
		Credit:       Micros(read("speech.price_per_1000_credits", speech.PricePer1000Credits, 3, maxPricePer1000Credits)),
		DetectorCall: Micros(read("detector.price_per_call", detector.PricePerCall, 6, maxPricePerCall)),
	}
	if len(errs) > 0 {
		return Prices{}, fmt.Errorf("read prices: %w", errors.Join(errs...))
	}
	return p, nil
}

// decimal is a number of a TOML file, as text.
type decimal struct{ text string }

// UnmarshalTOML takes integers and floats. The shortest text that reads as a
// float is the one in the file for every number of up to 15 digits, and bounds
// and places leave no room for more.
func (d *decimal) UnmarshalTOML(value any) error {
	switch v := value.(type) {
	case int64:
		d.text = strconv.FormatInt(v, 10)
	case float64:
		d.text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return errors.New("use a number")
	}
	return nil
}

// integer returns the number in units of 10^-places, 0 for none.
func (d *decimal) integer(places, most int64) (int64, error) {
	if d == nil {
		return 0, nil
	}
	return parseDecimal(d.text, int(places), most)
}

// ParseMoney reads an amount such as 12.50.
func ParseMoney(text string) (Micros, error) {
	value, err := parseDecimal(text, 6, maxMoney)
	return Micros(value), err
}

// parseDecimal reads a decimal number exactly, in units of 10^-places.
func parseDecimal(text string, places int, most int64) (int64, error) {
	whole, fraction, point := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if !digits(whole) || point && !digits(fraction) {
		return 0, fmt.Errorf("%q is no amount: use digits such as 12.50, not negative", text)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > places {
		return 0, fmt.Errorf("%s has more than %d decimals", text, places)
	}
	unit := int64(1)
	for range places {
		unit *= 10
	}
	value, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", places-len(fraction)), 10, 64)
	if err != nil || value > most*unit {
		return 0, fmt.Errorf("%s is above %d", text, most)
	}
	return value, nil
}

// String returns the amount without its currency, with two decimals or as many
// as it has.
func (m Micros) String() string {
	sign := ""
	if m < 0 {
		sign = "-"
	}
	// Not negated as a whole: the smallest number has no opposite.
	whole, fraction := m/1_000_000, m%1_000_000
	text := strings.TrimRight(fmt.Sprintf("%06d", max(fraction, -fraction)), "0")
	return fmt.Sprintf("%s%d.%s%s", sign, uint64(max(whole, -whole)), text, strings.Repeat("0", max(0, 2-len(text))))
}

// Amount returns money with its currency, "no price known" without prices.
func (p Prices) Amount(m Micros) string {
	if p.Currency == "" {
		return "no price known"
	}
	return m.String() + " " + p.Currency
}
