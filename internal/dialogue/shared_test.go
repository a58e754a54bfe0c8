package dialogue_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// mentalManip reads a file of the shared test data, which is no part of the
// project (its licence forbids that) and lies beside it where it is present.
func mentalManip(t *testing.T, name string) dialogue.Dataset {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above the package")
		}
		root = filepath.Dir(root)
	}
	file := filepath.Join(filepath.Dir(root), "shared", "data", "mentalmanip", name)
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skipf("%s is not here: the MentalManip data is not part of the project", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	dataset, err := dialogue.Read(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return dataset
}

// The paper's figures: 19,236 turns, 1,350,445 characters, Table 1's mentions.
func TestMentalManipConsensus(t *testing.T) {
	const opening, lost = `the dialogue begins with ":" and no speaker; kept as a turn without words of Person1`,
		"the text holds '\uFFFD': characters were lost before"
	want := dialogue.Validation{
		Dialogues:           2915,
		Turns:               19236,
		WordlessTurns:       5,
		SpeakersPerDialogue: map[int]int{2: 2915},
		Characters:          1350445,
		Yes:                 2016,
		No:                  899,
		YesWithoutTactic:    268,
		TacticMentions: map[tactic.Tactic]int{
			tactic.Persuasion: 607, tactic.Shaming: 384, tactic.Accusation: 361, tactic.Intimidation: 321,
			tactic.Rationalize: 213, tactic.Anger: 133, tactic.Denial: 87, tactic.Evasion: 83,
			tactic.Victim: 69, tactic.Innocence: 58, tactic.Servant: 30,
		},
		Problems: []dialogue.Problem{
			{ID: "85514571", Kind: dialogue.Encoding, Detail: lost},
			{ID: "85514927", Kind: dialogue.NoSpeaker, Detail: opening},
			{ID: "85517226", Kind: dialogue.NoSpeaker, Detail: opening},
			{ID: "85518731", Kind: dialogue.Encoding, Detail: lost},
		},
		Duplicates: [][]string{{"85515353", "85518413"}},
	}
	dataset := mentalManip(t, "mentalmanip_con.csv")
	got := dataset.Validation
	for i := range got.Problems {
		got.Problems[i].Row, got.Problems[i].Line = 0, 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("validation (-want +got):\n%s", diff)
	}
	requireRoundTrip(t, dataset)
}

func TestMentalManipMajority(t *testing.T) {
	dataset := mentalManip(t, "mentalmanip_maj.csv")
	v := dataset.Validation
	got := []int{len(dataset.Dialogues), v.Yes, v.No, v.YesWithoutTactic, v.Unusable(), v.SpeakersPerDialogue[2], v.Turns, v.WordlessTurns}
	want := []int{4000, 2818, 1182, 664, 0, 4000, 26063, 8 + 3 + 9}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dialogues, YES, NO, YES without tactic, unusable, two speakers, turns, wordless (-want +got):\n%s", diff)
	}
	requireRoundTrip(t, dataset)
}

// The opening ":" stays as written and goes to the first named speaker.
func TestMentalManipOpeningWithoutSpeaker(t *testing.T) {
	dataset := mentalManip(t, "mentalmanip_con.csv")
	kept, err := dialogue.Select(dataset.Dialogues, dialogue.Selection{IDs: []string{"85514927.0"}})
	if err != nil || len(kept) != 1 {
		t.Fatalf("Select = %d dialogues, %v", len(kept), err)
	}
	if diff := cmp.Diff(dialogue.Turn{Speaker: "Person1", Text: ":"}, kept[0].Turns[0]); diff != "" || len(kept[0].Turns) != 4 {
		t.Errorf("%d turns, want 4; first turn (-want +got):\n%s", len(kept[0].Turns), diff)
	}
}
