// Package check holds the tests of what deploys SpeechManip: that compose, Kubernetes
// and Terraform files are well formed, and name only what starter and worker know.
//
// It is a module of its own, so that the tools it needs are no dependencies of the
// product. It imports the product's contract: a renamed variable, flag or queue fails
// here.
package check
