package annotate

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/speechmanip/speechmanip/internal/study"
)

// leadView is how far a study is, for its leader.
type leadView struct {
	shell
	study.Status
	Open map[string]string // how far each annotator's open batch is
}

// Queue counts what waits for adjudication in a modality, or is in it.
func (leadView) Queue(m study.ModalityStatus) int {
	return m.Adjudicated[study.Needed] + m.Adjudicated[study.UnderReview]
}

// Resolved counts what adjudication has decided.
func (leadView) Resolved(m study.ModalityStatus) int { return m.Adjudicated[study.Adjudicated] }

func (s *Server) lead(w http.ResponseWriter, r *http.Request, who visitor) {
	status, err := s.Studies.Status(r.Context(), who.Study)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	view := leadView{shell: who.shell("Study " + who.Study), Status: status, Open: map[string]string{}}
	for _, a := range status.Annotators {
		if a.Open == nil {
			continue
		}
		p, err := s.Studies.Progress(r.Context(), a.Workflow)
		if err != nil {
			view.Open[a.Annotator] = a.Open.Part()
			continue
		}
		view.Open[a.Annotator] = a.Open.Part() + ": " + strconv.Itoa(len(p.Judgments)) + " of " + strconv.Itoa(len(a.Open.Items))
	}
	show(w, http.StatusOK, "lead", view)
}

// export sends a file of what was judged, or how far annotators agree.
func (s *Server) export(w http.ResponseWriter, r *http.Request, who visitor) {
	var out bytes.Buffer
	var err error
	name, kind := r.PathValue("form"), "text/csv; charset=utf-8"
	switch name {
	case "long", "consensus":
		err = s.Studies.Export(r.Context(), who.Study, name, &out)
		w.Header().Set("Content-Disposition", `attachment; filename="`+who.Study+"-"+name+`.csv"`)
	case "agreement":
		err = s.Studies.Agreement(r.Context(), who.Study, &out)
		kind = "text/plain; charset=utf-8"
	default:
		notFound(w)
		return
	}
	if err != nil {
		w.Header().Del("Content-Disposition")
		s.unavailable(w, err)
		return
	}
	s.audit("exported", who, name)
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(out.Bytes())
}
