package people

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// ConsentText is what an annotator agrees to before the first item. Every field is
// plain text and required; beside them stands that they are 18 or older.
type ConsentText struct {
	Purpose        string `toml:"purpose" json:"purpose"`
	ContentWarning string `toml:"content_warning" json:"content_warning"`
	DataCollected  string `toml:"data_collected" json:"data_collected"`
	Pay            string `toml:"pay" json:"pay"`
	Withdrawal     string `toml:"withdrawal" json:"withdrawal"`
	Retention      string `toml:"retention" json:"retention"`
	Publication    string `toml:"publication" json:"publication"` // in which form what is published
	Ethics         string `toml:"ethics" json:"ethics"`           // the approval's reference, or "none"
	Contact        string `toml:"contact" json:"contact"`         // whom to ask
}

// MaxConsent is the longest field, in bytes.
const MaxConsent = 10_000

// ConsentTemplate is a file that ParseConsent reads once it is filled in.
const ConsentTemplate = `# What annotators agree to before the first item. Write every field anew: nothing here
# is legal advice. A changed text is a new version, which everybody has to accept again.
purpose = ""
content_warning = ""
data_collected = ""
pay = ""
withdrawal = ""
retention = ""
publication = ""
ethics = ""          # the approval's reference, or "none"
contact = ""
`

// Section is a field of a consent text with its heading, for showing it.
type Section struct{ Heading, Text string }

// Sections returns the fields in the order in which they are read.
func (c ConsentText) Sections() []Section {
	return []Section{
		{"Purpose", c.Purpose}, {"Content warning", c.ContentWarning}, {"Data collected", c.DataCollected}, {"Pay", c.Pay},
		{"Withdrawal", c.Withdrawal}, {"Retention", c.Retention}, {"Publication", c.Publication}, {"Ethics approval", c.Ethics}, {"Contact", c.Contact},
	}
}

// ParseConsent reads a consent text from TOML. The error names all fields that are
// missing, unknown or too long.
func ParseConsent(text string) (ConsentText, error) {
	var c ConsentText
	meta, err := toml.Decode(text, &c)
	if err != nil {
		return c, fmt.Errorf("the consent text is no TOML: %w", err)
	}
	var problems []string
	for _, key := range meta.Undecoded() {
		problems = append(problems, fmt.Sprintf("%.40q is no field", key.String()))
	}
	for _, s := range c.Sections() {
		switch {
		case strings.TrimSpace(s.Text) == "":
			problems = append(problems, fmt.Sprintf("%s is empty", strings.ToLower(s.Heading)))
		case len(s.Text) > MaxConsent || !utf8.ValidString(s.Text):
			problems = append(problems, fmt.Sprintf("%s has more than %d bytes, or is not UTF-8", strings.ToLower(s.Heading), MaxConsent))
		}
	}
	if len(problems) > 0 {
		return c, fmt.Errorf("the consent text can't be used: %s", strings.Join(problems, "; "))
	}
	return c, nil
}

func consentTextPrefix(study string) string { return studyPrefix(study) + "consent-texts/" }

// SetConsentText makes a text the study's current one and returns its version, from 1.
// The same text again stays the version that it is.
func (r Registry) SetConsentText(ctx context.Context, study string, text ConsentText) (int, error) {
	version, current, err := r.ConsentText(ctx, study)
	if err != nil && !errors.Is(err, objectstore.ErrNotFound) {
		return 0, err
	}
	if err == nil && current == text {
		return version, nil
	}
	key := fmt.Sprintf("%s%06d.json", consentTextPrefix(study), version+1)
	_, err = objectstore.PutJSON(ctx, r.Store, key, text, objectstore.PutOptions{IfAbsent: true})
	return version + 1, err
}

// ConsentText returns the study's current text and its version,
// objectstore.ErrNotFound where it has none.
func (r Registry) ConsentText(ctx context.Context, study string) (int, ConsentText, error) {
	versions, err := r.names(ctx, consentTextPrefix(study))
	if err != nil {
		return 0, ConsentText{}, err
	}
	if len(versions) == 0 {
		return 0, ConsentText{}, fmt.Errorf("study %q has no consent text: %w", study, objectstore.ErrNotFound)
	}
	last := versions[len(versions)-1] // they are listed in order
	version, err := strconv.Atoi(last)
	if err != nil {
		return 0, ConsentText{}, fmt.Errorf("consent text %q has no number", last)
	}
	text, err := get[ConsentText](ctx, r.Store, consentTextPrefix(study)+last+".json")
	return version, text, err
}

// Consent is the record that somebody has accepted a version of the text, and said to
// be 18 or older.
type Consent struct {
	Study     string    `json:"study"`
	Pseudonym string    `json:"pseudonym"`
	Version   int       `json:"version"`
	Adult     bool      `json:"adult"`
	Time      time.Time `json:"time"`
}

func consentKey(study, pseudonym string, version int) string {
	return fmt.Sprintf("%sconsents/%s/%06d.json", studyPrefix(study), evaluation.EncodeID(pseudonym), version)
}

// Accept records an annotator's consent to the current version, the first time that
// they give it. It is refused for another version, and without adult.
func (r Registry) Accept(ctx context.Context, study, pseudonym string, version int, adult bool) error {
	current, _, err := r.ConsentText(ctx, study)
	switch {
	case err != nil:
		return err
	case version != current:
		return fmt.Errorf("version %d of the consent text is not the current one: read version %d", version, current)
	case !adult:
		return errors.New("only adults may take part")
	}
	consent := Consent{Study: study, Pseudonym: pseudonym, Version: version, Adult: true, Time: r.Now().UTC()}
	_, err = objectstore.PutJSON(ctx, r.Store, consentKey(study, pseudonym, version), consent, objectstore.PutOptions{IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		return nil
	}
	return err
}

// Consented reports whether an annotator has accepted the current version: only who
// has may see an item.
func (r Registry) Consented(ctx context.Context, study, pseudonym string) (bool, error) {
	current, _, err := r.ConsentText(ctx, study)
	if err != nil {
		return false, err
	}
	consent, err := get[Consent](ctx, r.Store, consentKey(study, pseudonym, current))
	if errors.Is(err, objectstore.ErrNotFound) {
		return false, nil
	}
	return consent.Adult, err
}
