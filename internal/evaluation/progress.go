package evaluation

// Progress is how far an evaluation, or one chunk of it, has come.
type Progress struct {
	Stage      string   `json:"stage"` // one line for people
	Total      int      `json:"total"` // dialogues
	Started    int      `json:"started"`
	Done       int      `json:"done"` // with a verdict or failed
	Yes        int      `json:"yes"`
	No         int      `json:"no"`
	Unresolved int      `json:"unresolved"`
	Failed     int      `json:"failed"`
	Usage      Usage    `json:"usage"`
	Chunks     []string `json:"chunks,omitempty"` // workflow ids of the live chunks
}

// Add adds the counts of other, one chunk's, to p.
func (p *Progress) Add(other Progress) {
	p.Started += other.Started
	p.Done += other.Done
	p.Yes += other.Yes
	p.No += other.No
	p.Unresolved += other.Unresolved
	p.Failed += other.Failed
	p.Usage.Add(other.Usage)
}
