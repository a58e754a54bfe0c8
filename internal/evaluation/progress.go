package evaluation

// Counts is how many dialogues came how far, and what that took.
type Counts struct {
	Started    int   `json:"started"`
	Done       int   `json:"done"` // with a verdict or failed
	Yes        int   `json:"yes"`
	No         int   `json:"no"`
	Unresolved int   `json:"unresolved"`
	Failed     int   `json:"failed"`
	Usage      Usage `json:"usage"`
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Started += other.Started
	c.Done += other.Done
	c.Yes += other.Yes
	c.No += other.No
	c.Unresolved += other.Unresolved
	c.Failed += other.Failed
	c.Usage.Add(other.Usage)
}

// Progress is how far an evaluation, or one chunk of it, has come.
type Progress struct {
	Stage string `json:"stage"` // one line for people
	Total int    `json:"total"` // dialogues
	Counts
	// Paused says why it stands still; nil when it doesn't.
	Paused *Pause `json:"paused,omitempty"`
	// Of an evaluation: the counts of the finished chunks, and the workflow ids
	// of those in flight, which know their own exactly.
	Finished Counts   `json:"finished"`
	Live     []string `json:"live,omitempty"`
}
