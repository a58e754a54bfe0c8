package report

import (
	"github.com/speechmanip/speechmanip/internal/score"
)

// voices are the figures of several castings.
func (f *figures) voices(v *Voices) {
	if v == nil || v.Steadiness == nil {
		return
	}
	s := v.Steadiness
	f.rate("castings.verdict_depends", s.Depends)
	f.figure("castings.verdict_depends.lowest", s.Lowest, s.N+s.Open)
	f.figure("castings.verdict_depends.highest", s.Highest, s.N+s.Open)
	f.interval("castings.flip_rate", s.Flips, s.Low, s.High, s.N)
	for _, e := range v.Effects {
		f.within("voice."+e.Voice+".first_against_second_speaker", e.Role)
		f.within("voice."+e.Voice+".present_against_absent", e.Presence)
	}
}

func (f *figures) within(name string, w score.Within) {
	f.interval(name, w.Difference, w.Low, w.High, w.N)
	f.figure(name+".sign_p", w.P, w.N)
	f.figure(name+".lowest", w.Lowest, w.N+w.Open)
	f.figure(name+".highest", w.Highest, w.N+w.Open)
}
