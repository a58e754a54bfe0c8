package audio

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Compose joins turns in order into one 16-bit mono WAV at dst and returns its Timeline.
//
// Each turn is decoded, resampled, trimmed, faded and measured once, and waits in a file on
// disk; loudness under any gain follows from those measurements. Then the gains are known
// and a second pass writes the clip. Where a gain would push a turn's true peak over the
// ceiling, the peak is turned down for a few milliseconds, which leaves the loudness of
// speech where it was. The same input gives the same bytes.
//
// It returns an error, naming the turn, when one can't be opened or decoded or is empty,
// and an error when nothing is audible: a clip is never shorter than its dialogue. What was
// written to dst is then unusable.
func Compose(dst io.WriteSeeker, turns []TurnSource, opts ComposeOptions, prov Provenance) (Timeline, error) {
	if err := opts.Validate(); err != nil {
		return Timeline{}, err
	}
	if len(turns) == 0 {
		return Timeline{}, errors.New("compose: no turns")
	}
	spool, err := newSpool()
	if err != nil {
		return Timeline{}, fmt.Errorf("compose: %w", err)
	}
	defer spool.close()

	c := &composer{opts: opts, spool: spool}
	for i, turn := range turns {
		if i > 0 {
			c.length += opts.samples(opts.GapSeconds)
		} else {
			c.length += opts.samples(opts.LeadSeconds)
		}
		if err := c.load(turn); err != nil {
			return Timeline{}, fmt.Errorf("compose turn %d: %w", turn.Turn, err)
		}
	}
	if err := c.level(); err != nil {
		return Timeline{}, fmt.Errorf("compose: %w", err)
	}
	if err := c.write(dst, prov); err != nil {
		return Timeline{}, fmt.Errorf("compose: %w", err)
	}
	return c.timeline(prov), nil
}

// composer is one composition on its way.
type composer struct {
	opts     ComposeOptions
	spool    *spool
	convert  *resampler // of the last turn: turns nearly always share a rate
	length   int        // samples of the clip so far
	parts    []*part
	speakers []*speaker
	clipGain float64 // dB
}

// load is the first pass over one turn.
func (c *composer) load(turn TurnSource) error {
	p := &part{span: TurnSpan{
		Turn: turn.Turn, Speaker: turn.Speaker, Voice: turn.Voice, TextHash: turn.TextHash, StartSample: c.length,
	}}
	c.parts = append(c.parts, p)
	if turn.Silent {
		c.length += c.opts.samples(c.opts.SilentTurnSeconds)
		p.span.EndSample = c.length
		p.flag(FlagSilent)
		return nil
	}
	pcm, warnings, err := c.decode(turn)
	if err != nil {
		return err
	}
	if p.span.Warnings = warnings; len(warnings) > 0 {
		p.flag(FlagRepaired)
	}
	pcm = Trim(pcm, c.opts.TrimThresholdDB, c.opts.TrimKeepMillis)
	fade(pcm.Samples, c.opts.samples(c.opts.FadeMillis/1000))
	c.length += len(pcm.Samples)
	p.span.EndSample = c.length

	s := c.speakerNamed(turn.Speaker)
	p.audible, p.speakerStart, p.scale = true, s.samples, 1
	s.samples += len(pcm.Samples)
	s.parts = append(s.parts, p)
	p.measure(pcm)
	if _, flag := loudnessOf([]*part{p}, onTurn, p.samples(), c.opts.Rate); flag != "" {
		p.flag(flag)
	}
	return c.spool.write(pcm.Samples)
}

// decode returns a turn's audio at the rate of the clip and what the decoder repaired.
func (c *composer) decode(turn TurnSource) (PCM, []string, error) {
	if turn.Open == nil {
		return PCM{}, nil, errors.New("has words but no audio to open")
	}
	in, err := turn.Open()
	if err != nil {
		return PCM{}, nil, fmt.Errorf("open: %w", err)
	}
	pcm, format, err := DecodeReader(in)
	if closeErr := in.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close: %w", closeErr)
	}
	if err != nil {
		return PCM{}, nil, err
	}
	if pcm.Rate != c.opts.Rate {
		if c.convert == nil || c.convert.from != pcm.Rate {
			c.convert = newResampler(pcm.Rate, c.opts.Rate)
		}
		pcm = c.convert.apply(pcm)
	}
	return pcm, format.Warnings, nil
}

func (c *composer) speakerNamed(name string) *speaker {
	for _, s := range c.speakers {
		if s.name == name {
			return s
		}
	}
	s := &speaker{name: name}
	c.speakers = append(c.speakers, s)
	return s
}

// level decides every turn's gain: first its own or its speaker's, then the clip's.
func (c *composer) level() error {
	rate := c.opts.Rate
	for _, s := range c.speakers {
		switch c.opts.Level {
		case LevelSpeaker:
			gain := c.wanted(loudnessOf(s.parts, onSpeaker, s.samples, rate))
			for _, p := range s.parts {
				p.gain = gain
			}
		case LevelTurn:
			for _, p := range s.parts {
				p.gain = c.wanted(loudnessOf([]*part{p}, onTurn, p.samples(), rate))
			}
		}
		for _, p := range s.parts {
			p.gain = c.bounded(p, p.gain)
			p.scale = amplitude(p.gain)
		}
	}
	loudness, flag := loudnessOf(c.parts, onClip, c.length, rate)
	if flag == FlagSilent {
		return errors.New("no turn has anything audible")
	}
	if c.opts.Level != LevelNone {
		c.clipGain = c.wanted(loudness, flag)
	}
	for _, p := range c.parts {
		if p.audible {
			p.gain = c.bounded(p, math.Round(100*(p.gain+c.clipGain))/100)
			p.scale = amplitude(p.gain)
		}
	}
	return nil
}

// wanted is the gain in dB that brings a loudness to the target; silence stays silence.
func (c *composer) wanted(lufs float64, flag Flag) float64 {
	if flag == FlagSilent {
		return 0
	}
	return c.opts.TargetLUFS - lufs
}

func (c *composer) bounded(p *part, gain float64) float64 {
	bounded := min(max(gain, -c.opts.MaxGainDB), c.opts.MaxGainDB)
	if bounded != gain {
		p.flag(FlagGainLimited)
	}
	return bounded
}

// write is the second pass: every turn from the spool, at its gain and under the ceiling.
func (c *composer) write(dst io.WriteSeeker, prov Provenance) error {
	if err := c.spool.rewind(); err != nil {
		return err
	}
	w, err := newWAVWriter(dst, c.opts.Rate, &prov)
	if err != nil {
		return err
	}
	longest := c.opts.samples(max(c.opts.LeadSeconds, c.opts.GapSeconds))
	for _, p := range c.parts {
		longest = max(longest, p.samples())
	}
	buf := make([]float32, longest)
	ceiling := amplitude(c.opts.TruePeakCeiling - peakMargin)
	at := 0
	for _, p := range c.parts {
		silence := buf[:p.span.StartSample-at]
		clear(silence)
		if err := w.write(silence); err != nil {
			return err
		}
		samples := buf[:p.samples()]
		if !p.audible {
			clear(samples)
		} else {
			if err := c.spool.read(samples); err != nil {
				return err
			}
			p.apply(samples, c.opts.Rate, ceiling)
		}
		if err := w.write(samples); err != nil {
			return err
		}
		at = p.span.EndSample
	}
	return w.close()
}

func (c *composer) timeline(prov Provenance) Timeline {
	rate := c.opts.Rate
	seconds := func(samples int) float64 { return math.Round(1e6*float64(samples)/float64(rate)) / 1e6 }
	level := func(db float64) float64 { return math.Round(100*db) / 100 }

	lufs, _ := loudnessOf(c.parts, onClip, c.length, rate)
	t := Timeline{
		Synthetic: true, Rate: rate, Samples: c.length, Seconds: seconds(c.length),
		LUFS: level(lufs), TruePeak: level(peakOf(c.parts)), ClipGainDB: level(c.clipGain),
		Options: c.opts, Provenance: prov,
	}
	for _, p := range c.parts {
		lufs, _ := loudnessOf([]*part{p}, onTurn, p.samples(), rate)
		p.span.Start, p.span.End = seconds(p.span.StartSample), seconds(p.span.EndSample)
		p.span.LUFS, p.span.TruePeak, p.span.GainDB = level(lufs), level(peakOf([]*part{p})), level(p.gain)
		t.Turns = append(t.Turns, p.span)
	}
	for _, s := range c.speakers {
		lufs, flag := loudnessOf(s.parts, onSpeaker, s.samples, rate)
		sl := SpeakerLevel{
			Speaker: s.name, Turns: len(s.parts), Seconds: seconds(s.samples),
			LUFS: level(lufs), TruePeak: level(peakOf(s.parts)), GainDB: level(s.meanGain()),
		}
		if flag != "" {
			sl.Flags = []Flag{flag}
		}
		t.Speakers = append(t.Speakers, sl)
	}
	return t
}
