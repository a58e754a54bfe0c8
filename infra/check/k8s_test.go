package check

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// rendered is what one folder of infra/k8s gives, by kind and name.
type rendered struct {
	deployments map[string]appsv1.Deployment
	configs     map[string]corev1.ConfigMap
	accounts    map[string]corev1.ServiceAccount
	budgets     map[string]policyv1.PodDisruptionBudget
	policies    map[string]networkingv1.NetworkPolicy
	jobs        map[string]batchv1.Job
	scalers     map[string]scaledObject
}

// build renders a folder and decodes every object strictly: an unknown or misspelt
// field is an error.
func build(t *testing.T, folder string) rendered {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(repository, "infra/k8s", folder))
	if err != nil {
		t.Fatal(err)
	}
	r := rendered{
		deployments: map[string]appsv1.Deployment{}, configs: map[string]corev1.ConfigMap{}, accounts: map[string]corev1.ServiceAccount{},
		budgets: map[string]policyv1.PodDisruptionBudget{}, policies: map[string]networkingv1.NetworkPolicy{}, jobs: map[string]batchv1.Job{},
		scalers: map[string]scaledObject{},
	}
	for _, resource := range resources.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		name := resource.GetName()
		switch kind := resource.GetGvk().String(); kind {
		case "Deployment.v1.apps":
			err = keep(r.deployments, name, text)
		case "ConfigMap.v1.[noGrp]":
			err = keep(r.configs, name, text)
		case "ServiceAccount.v1.[noGrp]":
			err = keep(r.accounts, name, text)
		case "PodDisruptionBudget.v1.policy":
			err = keep(r.budgets, name, text)
		case "NetworkPolicy.v1.networking.k8s.io":
			err = keep(r.policies, name, text)
		case "Job.v1.batch":
			err = keep(r.jobs, name, text)
		case "ScaledObject.v1alpha1.keda.sh":
			err = keep(r.scalers, name, text)
		case "Namespace.v1.[noGrp]":
			err = keep(map[string]corev1.Namespace{}, name, text)
		default:
			t.Errorf("%s: no check of kind %s", folder, kind)
		}
		if err != nil {
			t.Errorf("%s: %v", folder, err)
		}
		if resource.GetGvk().Kind != "Namespace" && resource.GetNamespace() != "speechmanip" {
			t.Errorf("%s: %s is in namespace %q", folder, name, resource.GetNamespace())
		}
	}
	return r
}

func keep[T any](to map[string]T, name string, text []byte) error {
	var value T
	if err := yaml.UnmarshalStrict(text, &value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	to[name] = value
	return nil
}

func TestKubernetes(t *testing.T) {
	workers := []string{"audio", "detect", "speech", "workflows"}
	for folder, want := range map[string][]string{
		"base":            workers,
		"overlays/single": workers,
		"overlays/gpu":    append([]string{"detect-gpu-qwen25omni"}, workers...),
	} {
		t.Run(folder, func(t *testing.T) {
			r := build(t, folder)
			if got := slices.Sorted(maps.Keys(r.deployments)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("deployments are %q", got)
			}
			queues := map[string]string{}
			for name, d := range r.deployments {
				queues[name] = r.worker(t, name, d.Spec.Template)
				probed(t, name, d.Spec.Template)
				if !matches(r.budgets, d) {
					t.Errorf("%s has no disruption budget", name)
				}
				if scaled := r.scalers[name].Kind != ""; scaled == (d.Spec.Replicas != nil) {
					t.Errorf("%s: its replicas are set twice or never", name)
				}
			}
			if len(r.jobs) != 1 {
				t.Errorf("jobs are %q", slices.Sorted(maps.Keys(r.jobs)))
			}
			for name, job := range r.jobs {
				r.worker(t, name, job.Spec.Template)
			}
			for name, s := range r.scalers {
				s.check(t, r.deployments[s.Spec.ScaleTargetRef.Name], queues[s.Spec.ScaleTargetRef.Name])
				if name != s.Spec.ScaleTargetRef.Name {
					t.Errorf("scaler %s scales %s", name, s.Spec.ScaleTargetRef.Name)
				}
			}
			if folder == "overlays/gpu" && len(r.scalers) != len(r.deployments) {
				t.Errorf("%d scalers for %d deployments", len(r.scalers), len(r.deployments))
			}
			if nothing, ok := r.policies["nothing-in"]; !ok || len(nothing.Spec.Ingress) > 0 || len(nothing.Spec.PodSelector.MatchLabels) > 0 {
				t.Error("workers can be called")
			}
			if metrics, ok := r.policies["metrics-in"]; !ok || len(metrics.Spec.Ingress) != 1 || len(metrics.Spec.Ingress[0].From) != 1 || len(metrics.Spec.Ingress[0].Ports) != 1 {
				t.Error("metrics can't be asked for, or more can be")
			}
		})
	}
}

// worker checks a pod of the product's, and returns the queue that it polls.
func (r rendered) worker(t *testing.T, name string, pod corev1.PodTemplateSpec) string {
	t.Helper()
	spec := pod.Spec
	if _, ok := r.accounts[spec.ServiceAccountName]; !ok {
		t.Errorf("%s: no service account %q", name, spec.ServiceAccountName)
	}
	if spec.SecurityContext == nil || spec.SecurityContext.RunAsNonRoot == nil || !*spec.SecurityContext.RunAsNonRoot {
		t.Errorf("%s may run as root", name)
	}
	if pod.Labels["speechmanip/worker"] != "true" {
		t.Errorf("%s: the network policy doesn't select it", name)
	}
	if len(spec.Containers) != 1 {
		t.Fatalf("%s has %d containers", name, len(spec.Containers))
	}
	mounted := map[string]bool{}
	for _, volume := range spec.Volumes {
		mounted[volume.Name] = true
	}
	for _, c := range append(slices.Clone(spec.InitContainers), spec.Containers...) {
		pinned(t, name, c.Image)
		for _, mount := range c.VolumeMounts {
			if !mounted[mount.Name] {
				t.Errorf("%s: no volume %q", name, mount.Name)
			}
		}
	}
	main := spec.Containers[0]
	if main.SecurityContext == nil || main.SecurityContext.ReadOnlyRootFilesystem == nil || !*main.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("%s may write to its image", name)
	}
	c := container{name: name, command: append(slices.Clone(main.Command), main.Args...), env: map[string]string{}}
	for _, from := range main.EnvFrom {
		if from.ConfigMapRef == nil {
			continue
		}
		config, ok := r.configs[from.ConfigMapRef.Name]
		if !ok {
			t.Errorf("%s: no config map %q", name, from.ConfigMapRef.Name)
		}
		maps.Copy(c.env, config.Data)
	}
	if c.env["SPEECHMANIP_S3_ENDPOINT"] != "aws" { // then the secret speechmanip-s3 is there
		c.env["SPEECHMANIP_S3_ACCESS_KEY"], c.env["SPEECHMANIP_S3_SECRET_KEY"] = "made-up", "made-up"
	}
	for _, e := range main.Env {
		c.env[e.Name] = e.Value
	}
	if spec.TerminationGracePeriodSeconds != nil {
		c.grace = time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second
	}
	return c.check(t)
}

// probed fails for a worker whose probes, port and annotations don't go together.
func probed(t *testing.T, name string, pod corev1.PodTemplateSpec) {
	t.Helper()
	main := pod.Spec.Containers[0]
	if !slices.Contains(main.Command, "--listen=:9464") || len(main.Ports) != 1 || main.Ports[0].ContainerPort != 9464 {
		t.Errorf("%s listens nowhere, or on another port: %q, %v", name, main.Command, main.Ports)
	}
	for path, probe := range map[string]*corev1.Probe{"/readyz": main.ReadinessProbe, "/healthz": main.LivenessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != main.Ports[0].Name {
			t.Errorf("%s: no probe of %s: %+v", name, path, probe)
		}
	}
	if pod.Annotations["prometheus.io/scrape"] != "true" || pod.Annotations["prometheus.io/port"] != "9464" {
		t.Errorf("%s is not scraped: %v", name, pod.Annotations)
	}
}

func matches(budgets map[string]policyv1.PodDisruptionBudget, d appsv1.Deployment) bool {
	for _, budget := range budgets {
		if budget.Spec.Selector != nil && maps.Equal(budget.Spec.Selector.MatchLabels, d.Spec.Selector.MatchLabels) {
			return budget.Spec.MaxUnavailable != nil
		}
	}
	return false
}

// A worker that is given encryption keys finds them where its variable says.
func TestEncrypted(t *testing.T) {
	fs := filesys.MakeFsOnDisk()
	folder := t.TempDir()
	absolute, err := filepath.Abs(filepath.Join(repository, "infra/k8s"))
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(folder, absolute)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("resources: [%[1]s/overlays/gpu]\ncomponents: [%[1]s/components/encrypted]\n", relative)
	if err := fs.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text)); err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, folder)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, resource := range resources.Resources() {
		if resource.GetKind() != "Deployment" {
			continue
		}
		seen++
		deployments := map[string]appsv1.Deployment{}
		if err := keep(deployments, "it", []byte(resource.MustYaml())); err != nil {
			t.Fatal(err)
		}
		pod := deployments["it"].Spec.Template.Spec
		main := pod.Containers[0]
		at := slices.IndexFunc(main.Env, func(e corev1.EnvVar) bool { return e.Name == "SPEECHMANIP_CODEC_KEY_FILE" })
		if at < 0 || !slices.ContainsFunc(main.VolumeMounts, func(m corev1.VolumeMount) bool {
			return strings.HasPrefix(main.Env[at].Value, m.MountPath+"/") && slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
				return v.Name == m.Name && v.Secret != nil
			})
		}) {
			t.Errorf("%s: no keys", resource.GetName())
		}
	}
	if seen != 5 {
		t.Errorf("%d deployments", seen)
	}
}
