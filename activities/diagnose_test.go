package activities

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// findings returns the findings as lines, "OK" or "no" first.
func findings(e evaluation.Examined) string {
	var lines []string
	for _, f := range e.Findings {
		line := "no " + f.What + ": " + f.Detail
		if f.OK {
			line = "OK" + line[2:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestDiagnoseWhatWorks(t *testing.T) {
	f := newFixture(t, nil)
	const stored = "OK store: written and read"
	spoken := must[evaluation.Examined](t, f.speech.DiagnoseSpeech, f.manifest.Spec.Speech.Pool)
	if spoken.Engine != tonesEngine || !strings.HasPrefix(findings(spoken), "OK speech engine: "+tonesEngine.Name) || !strings.HasSuffix(findings(spoken), stored) {
		t.Errorf("speech:\n%s\n%+v", findings(spoken), spoken.Engine)
	}
	if !strings.Contains(findings(spoken), "\nOK voices: ") || strings.Contains(findings(spoken), "account") {
		t.Errorf("speech:\n%s", findings(spoken))
	}
	heard := must[evaluation.Examined](t, f.clips.DiagnoseClips)
	if want := "OK recogniser: " + joined(earsEngine.Name, earsEngine.Model, earsEngine.Version) + "\n" + stored; findings(heard) != want {
		t.Errorf("clips:\n%s\nwant:\n%s", findings(heard), want)
	}
	judged := must[evaluation.Examined](t, f.detection.DiagnoseDetector, f.manifest.Spec)
	if want := "OK detector: " + joined(standIn.Detector, standIn.Model, standIn.Fingerprint) + "\n" + stored; findings(judged) != want {
		t.Errorf("detection:\n%s\nwant:\n%s", findings(judged), want)
	}
	if got := findings(must[evaluation.Examined](t, f.records.DiagnoseStore)); got != stored {
		t.Errorf("records:\n%s", got)
	}
	for entry, err := range f.store.List(t.Context(), "diagnosis/") {
		t.Errorf("%q stays (%v)", entry.Key, err)
	}
}

// What doesn't work is told, and the rest is checked all the same.
func TestDiagnoseWhatFails(t *testing.T) {
	f := newFixture(t, nil)
	broken := errors.New("no such program: install it")
	f.tones.fail, f.ears.fail, f.detector.fail = broken, broken, broken
	for name, e := range map[string]evaluation.Examined{
		"speech engine": must[evaluation.Examined](t, f.speech.DiagnoseSpeech, voice.Pool{}),
		"recogniser":    must[evaluation.Examined](t, f.clips.DiagnoseClips),
		"detector":      must[evaluation.Examined](t, f.detection.DiagnoseDetector, f.manifest.Spec),
	} {
		if want := "no " + name + ": no such program: install it\nOK store: written and read"; findings(e) != want || e.Engine != (speech.Engine{}) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, findings(e), want)
		}
	}
	f.detection.Detectors = func(context.Context, Wanted) (detect.Detector, error) { return nil, broken }
	if got := findings(must[evaluation.Examined](t, f.detection.DiagnoseDetector, f.manifest.Spec)); !strings.HasPrefix(got, "no detector: no such program") {
		t.Errorf("no detector:\n%s", got)
	}
}

// paid is a synthesizer with an account.
type paid struct {
	speech.Synthesizer
	account speech.Account
	err     error
}

func (p paid) Account(context.Context) (speech.Account, error) { return p.account, p.err }

func TestDiagnoseAccount(t *testing.T) {
	for name, c := range map[string]struct {
		account paid
		want    string
	}{
		"some left":  {paid{account: speech.Account{Plan: "creator", Used: 40, Limit: 100, Resets: noon}}, "OK speech account: plan creator, 40 of 100 used, 60 left, begins again on 2026-01-02"},
		"none left":  {paid{account: speech.Account{Plan: "free", Used: 100, Limit: 100}}, "no speech account: plan free has nothing left: 100 of 100 used; raise the plan, or wait"},
		"not to ask": {paid{err: errors.New("the key may not read it")}, "no speech account: the key may not read it"},
	} {
		f := newFixture(t, nil)
		c.account.Synthesizer = f.tones
		f.speech.Synthesizer = c.account
		got := findings(must[evaluation.Examined](t, f.speech.DiagnoseSpeech, f.manifest.Spec.Speech.Pool))
		if !strings.Contains(got, "\n"+c.want+"\n") {
			t.Errorf("%s:\n%s\nwant %q", name, got, c.want)
		}
	}
}

// told is a detector with a server that refuses what it can't judge.
type told struct {
	detect.Detector
	facts   []detect.Fact
	err     error
	refuses detect.Modality
}

func (d told) Facts(context.Context) ([]detect.Fact, error) { return d.facts, d.err }

func (d told) CheckModality(context.Context, detect.Modality) error { return nil }

func (d told) Prepare(ctx context.Context, item detect.Item) ([]byte, error) {
	switch {
	case item.Modality == d.refuses:
		return nil, errors.New("it doesn't hear")
	case item.Audio != nil:
		pcm, err := item.Audio(ctx)
		if err == nil && pcm.Seconds() != 0.5 {
			err = errors.New("the clip is not half a second long")
		}
		return nil, err
	case item.Transcript != nil:
		_, err := item.Transcript(ctx)
		return nil, err
	case len(item.Turns) == 0:
		return nil, errors.New("nothing to judge")
	}
	return nil, nil
}

func TestDiagnoseServer(t *testing.T) {
	f := newFixture(t, nil)
	facts := []detect.Fact{{Name: "server", Value: "vLLM 0.29"}, {Name: "audio check", Value: "none"}}
	for name, c := range map[string]struct {
		server   told
		modality detect.Modality
		want     string
	}{
		"hears":     {told{facts: facts}, detect.Audio, "\nOK detector's server: vLLM 0.29\nOK detector's audio check: none\nOK trial question: answered, modality audio\n"},
		"is deaf":   {told{facts: facts, refuses: detect.Audio}, detect.Audio, "\nno trial question: it doesn't hear\n"},
		"both":      {told{facts: facts, refuses: detect.Audio}, evaluation.Both, "\nno trial question: it doesn't hear\n"},
		"reads":     {told{facts: facts, refuses: detect.Audio}, detect.Text, "\nOK trial question: answered, modality text\n"},
		"reads asr": {told{facts: facts, refuses: detect.Audio}, detect.ASR, "\nOK trial question: answered, modality asr\n"},
		"differ":    {told{err: errors.New("two servers differ")}, detect.Audio, "\nno detector's server: two servers differ\nOK store"},
	} {
		c.server.Detector = f.detector
		f.detection.Detectors = func(context.Context, Wanted) (detect.Detector, error) { return c.server, nil }
		spec := f.manifest.Spec
		spec.Detection.Modality = c.modality
		if got := findings(must[evaluation.Examined](t, f.detection.DiagnoseDetector, spec)); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwant %q", name, got, c.want)
		}
	}
}
