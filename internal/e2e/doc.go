// Package e2e tests the built binaries against the real dev stack, with the real
// speech engine and recogniser. Its tests carry the build tag integration.
package e2e
