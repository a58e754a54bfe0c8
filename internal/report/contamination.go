package report

// Contamination says what the detector may have known of the evaluated dialogues.
type Contamination struct {
	// Told says that the detector lists what it was trained or tuned on; of one that
	// doesn't, as a language model, it is unknown.
	Told bool `json:"told"`
	Seen int  `json:"seen"` // evaluated dialogues on that list: in no headline figure
	// Public is what is known of the labels' publication.
	Public string `json:"public"`
}

const publicLabels = "Where items are MentalManip's: its texts and labels are public since 2024 (Wang et al., ACL 2024) and its dialogues are film scripts, public for longer, so that a model trained on public text may have seen them, whatever it lists here"

// caveats are what every reader must know of the figures.
func caveats() []string {
	return []string{
		"Film ids are unavailable: where dialogues share a film, they are less independent than the intervals take them to be, and the intervals are too narrow.",
		"Breakdowns are exploratory: nothing in them is tested, and with many parts some differ by chance.",
	}
}
