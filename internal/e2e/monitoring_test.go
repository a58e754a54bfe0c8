//go:build integration && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/overview"
	"github.com/speechmanip/speechmanip/internal/sample"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
)

const testPrices = "currency = \"USD\"\n[speech]\ncredits_per_character = 1.0\nprice_per_1000_credits = 0.22\n[detector]\nprice_per_call = 0.0004\n"

// TestMonitoring evaluates the sample's first dialogues with the local engines, and
// with simulated paid ones, while everything looks on: a real Prometheus, a receiver
// of traces, starter top, and the workers' logs.
func TestMonitoring(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	simulator := httptest.NewServer(chat.New(chat.Options{Dialect: "vllm", Model: "tiny"}))
	defer simulator.Close()
	r.account(t, elevenlabs.Options{Concurrency: 4})
	spans := &receiver{}
	collector := httptest.NewServer(spans)
	defer collector.Close()
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+simulator.URL, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)

	local := r.worker(t, "--roles", "all", "--listen", "127.0.0.1:0")
	paid := r.worker(t, "--roles", "speech,detect", "--synthesizer", "elevenlabs", "--accelerator", "gpu-test", "--pool", "chat", "--listen", "127.0.0.1:0")
	monitored := []string{local.address(t), paid.address(t)}
	for _, address := range monitored {
		for _, path := range []string{"/healthz", "/readyz"} {
			waitFor(t, time.Minute, path, func() bool {
				code, _ := fetch(t, "http://"+address+path)
				return code == http.StatusOK
			})
		}
	}
	prometheus := startPrometheus(t, r.dir, monitored)

	prices := filepath.Join(r.dir, "prices.toml")
	if err := os.WriteFile(prices, []byte(testPrices), 0o600); err != nil {
		t.Fatal(err)
	}
	r.starter(t, "evaluate", "--detach", "--id", "local", "--limit", "2")
	r.starter(t, "evaluate", "--detach", "--id", "paid", "--limit", "2", "--quality", "off", "--synthesizer", "elevenlabs",
		"--detector", "chat", "--accelerator", "gpu-test", "--pool", "chat", "--prices", prices)
	t.Run("top", func(t *testing.T) {
		waitFor(t, time.Minute, "every queue to be polled", func() bool {
			var view overview.View
			if err := json.Unmarshal([]byte(r.starter(t, "top", "--json")), &view); err != nil {
				t.Fatal(err)
			}
			served := map[string]bool{}
			for _, q := range view.Queues {
				served[q.Name] = len(q.Pollers) > 0
			}
			return served["speechmanip"] && served["audio"]
		})
		if frame := r.starter(t, "top", "--once"); !strings.Contains(frame, "QUEUE") || strings.Contains(frame, "\033") {
			t.Errorf("starter top shows\n%s", frame)
		}
	})
	for _, id := range []string{"local", "paid"} {
		if built := decode(t, r.starter(t, "watch", id, "--json")); built.N != 2 || len(built.Failures) != 0 {
			t.Errorf("%s: n %d, failures %v", id, built.N, built.Failures)
		}
	}
	t.Run("web UI", func(t *testing.T) { showsInWebUI(t, r) })
	t.Run("metrics", func(t *testing.T) {
		if prometheus == "" {
			const missing = "prometheus is not installed (Debian: prometheus)"
			if os.Getenv("SPEECHMANIP_MONITORING") != "" {
				t.Fatal(missing)
			}
			t.Skip(missing)
		}
		everyQueryReturnsData(t, prometheus)
	})
	paid.stop(t) // first, as it gives its slots back to the limiter, which the other runs
	local.stop(t)
	texts := sampleTexts(t)
	t.Run("traces", func(t *testing.T) { spans.check(t, texts) })
	t.Run("logs", func(t *testing.T) {
		for _, w := range []*workerProcess{local, paid} {
			log, err := os.ReadFile(w.log)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				if strings.Contains(string(log), text) {
					t.Errorf("%s has %q in it", w.log, text)
				}
			}
			if !regexp.MustCompile(`"msg":"stored".*"dialogue":"[^"]+"`).Match(log) {
				t.Errorf("%s names no dialogue", w.log)
			}
		}
	})
}

// sampleTexts are the turns that nobody says by chance.
func sampleTexts(t *testing.T) []string {
	t.Helper()
	set, err := dialogue.ReadCSV(strings.NewReader(string(sample.Dialogues())))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, d := range set.Dialogues {
		for _, turn := range d.Turns {
			if len(turn.Text) >= 12 {
				texts = append(texts, turn.Text)
			}
		}
	}
	if len(texts) < 20 {
		t.Fatalf("%d texts", len(texts))
	}
	return texts
}

// address is where the worker listens.
func (w *workerProcess) address(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(w.log)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`).FindSubmatch(log)
	if found == nil {
		t.Fatalf("the worker doesn't say where it listens:\n%s", log)
	}
	return string(found[1])
}

func fetch(t *testing.T, address string) (int, []byte) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

// startPrometheus runs a real one that asks the workers every second, under the
// project's rules, and returns its address: "" where none is installed.
func startPrometheus(t *testing.T, dir string, targets []string) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		return ""
	}
	rules, err := filepath.Abs("../../infra/prometheus/speechmanip.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(targets) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yaml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n- job_name: speechmanip\n  static_configs:\n  - targets: %s\n", rules, quoted)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(http.NotFoundHandler()) // a free port
	address := strings.TrimPrefix(listener.URL, "http://")
	listener.Close()
	logFile, err := os.Create(filepath.Join(dir, "prometheus.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer logFile.Close()
	cmd := exec.Command(program, "--config.file="+config, "--web.listen-address="+address, "--storage.tsdb.path="+filepath.Join(dir, "prometheus"))
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(logFile.Name())
			t.Logf("the end of Prometheus's log:\n%s", log[max(0, len(log)-2000):])
		}
	})
	waitFor(t, time.Minute, "Prometheus", func() bool {
		code, _ := fetch(t, "http://"+address+"/-/ready")
		return code == http.StatusOK
	})
	return "http://" + address
}

// comparison is an alert: what is compared with a number.
var comparison = regexp.MustCompile(`^(.*) (?:==|!=|>|<|>=|<=) [0-9.]+$`)

// everyQueryReturnsData asks all that dashboards and rules ask. Of an alert it is
// what is compared: that it doesn't fire is no proof that it could.
func everyQueryReturnsData(t *testing.T, prometheus string) {
	t.Helper()
	queries := append(ruleQueries(t, prometheus), dashboardQueries(t)...)
	if len(queries) < 50 {
		t.Fatalf("%d queries only", len(queries))
	}
	for _, q := range queries {
		q = strings.ReplaceAll(q, "$__rate_interval", "5m")
		var problem string
		deadline := time.Now().Add(time.Minute)
		for problem = returnsData(t, prometheus, q); problem != "" && time.Now().Before(deadline); problem = returnsData(t, prometheus, q) {
			time.Sleep(500 * time.Millisecond)
		}
		if problem != "" {
			t.Errorf("%s: %s", q, problem)
		}
	}
	t.Logf("%d queries return data", len(queries))
}

// returnsData returns what is wrong, "" for nothing.
func returnsData(t *testing.T, prometheus, query string) string {
	t.Helper()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	_, body := fetch(t, prometheus+"/api/v1/query?query="+url.QueryEscape(query))
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		return fmt.Sprintf("%v %s", err, answer.Error)
	}
	if len(answer.Data.Result) == 0 {
		return "no data"
	}
	return ""
}

func ruleQueries(t *testing.T, prometheus string) []string {
	t.Helper()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Type, Query string }
			}
		}
	}
	if _, body := fetch(t, prometheus+"/api/v1/rules"); json.Unmarshal(body, &answer) != nil {
		t.Fatalf("rules: %s", body)
	}
	var queries []string
	for _, group := range answer.Data.Groups {
		for _, rule := range group.Rules {
			if rule.Type == "alerting" {
				parts := comparison.FindStringSubmatch(rule.Query)
				if parts == nil {
					t.Errorf("alert %s compares no expression with a number: %s", rule.Name, rule.Query)
					continue
				}
				rule.Query = parts[1]
			}
			queries = append(queries, rule.Query)
		}
	}
	return queries
}

func dashboardQueries(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../infra/grafana/dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("dashboards: %v, %v", files, err)
	}
	var queries []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		if err := json.Unmarshal(text, &board); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				queries = append(queries, target.Expr)
			}
		}
	}
	return queries
}
