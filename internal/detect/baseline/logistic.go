package baseline

import "math"

// linear is a logistic regression: the log-odds of YES are Bias plus the
// weighted features.
type linear struct {
	Bias    float64   `json:"bias"`
	Weights []float64 `json:"weights"`
}

// logOdds returns the log-odds of YES; features beyond the weights don't count.
func (l linear) logOdds(x []feature) float64 {
	z := l.Bias
	for _, f := range x {
		z += l.Weights[f.index] * f.value
	}
	return z
}

// rounded returns l as it is stored.
func (l linear) rounded() linear {
	r := linear{Bias: round(l.Bias), Weights: make([]float64, len(l.Weights))}
	for i, w := range l.Weights {
		r.Weights[i] = round(w)
	}
	return r
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// balance returns a weight for each example that gives both classes the same
// total; with one class only, every weight is 1.
func balance(yes []bool) []float64 {
	n := [2]float64{}
	for _, y := range yes {
		n[class(y)]++
	}
	weights := make([]float64, len(yes))
	for i, y := range yes {
		weights[i] = 1
		if n[0] > 0 && n[1] > 0 {
			weights[i] = float64(len(yes)) / (2 * n[class(y)])
		}
	}
	return weights
}

// hard returns truths as targets.
func hard(yes []bool) []float64 {
	targets := make([]float64, len(yes))
	for i, y := range yes {
		targets[i] = float64(class(y))
	}
	return targets
}

func class(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// regression is the problem: half the squared weights plus the weighted logistic
// loss (C = 1); the bias is not penalised. Its point is the weights, then the bias.
type regression struct {
	x       [][]feature
	target  []float64 // the probability of YES that each example should have
	weights []float64 // of the examples
	dims    int
}

// loss returns the objective at w and fills the probability of each example.
func (r regression) loss(w, p []float64) float64 {
	sum := 0.0
	for _, v := range w[:r.dims] {
		sum += v * v / 2
	}
	for i, x := range r.x {
		z := linear{w[r.dims], w[:r.dims]}.logOdds(x)
		p[i] = sigmoid(z)
		sum += r.weights[i] * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - r.target[i]*z)
	}
	return sum
}

// back adds scale_i times example i to out, for all i.
func (r regression) back(scale func(int) float64, out []float64) {
	for i, x := range r.x {
		s := scale(i)
		for _, f := range x {
			out[f.index] += s * f.value
		}
		out[r.dims] += s
	}
}

func (r regression) gradient(w, p []float64) []float64 {
	g := make([]float64, r.dims+1)
	copy(g, w[:r.dims])
	r.back(func(i int) float64 { return r.weights[i] * (p[i] - r.target[i]) }, g)
	return g
}

// curve returns the Hessian times v.
func (r regression) curve(v, p []float64) []float64 {
	h := make([]float64, r.dims+1)
	copy(h, v[:r.dims])
	r.back(func(i int) float64 {
		return r.weights[i] * p[i] * (1 - p[i]) * linear{v[r.dims], v[:r.dims]}.logOdds(r.x[i])
	}, h)
	return h
}

// fit solves the regression by Newton's method with conjugate gradients and
// backtracking: no randomness, no clock, one thread, so the same input gives the
// same weights.
func (r regression) fit() linear {
	const (
		steps     = 100
		tolerance = 1e-8 // of the first gradient's length
	)
	w, p := make([]float64, r.dims+1), make([]float64, len(r.x))
	loss := r.loss(w, p)
	first := 0.0
	for step := range steps {
		g := r.gradient(w, p)
		length := norm(g)
		if step == 0 {
			first = length
		}
		if length <= tolerance*first {
			break
		}
		direction := r.newton(g, p)
		slope := dot(g, direction)
		next, nextLoss, rate := make([]float64, len(w)), loss, 1.0
		for ; rate > 1e-10; rate /= 2 {
			for i := range w {
				next[i] = w[i] + rate*direction[i]
			}
			if nextLoss = r.loss(next, p); nextLoss <= loss+1e-4*rate*slope {
				break
			}
		}
		if rate <= 1e-10 { // nothing left to gain in this precision
			break
		}
		w, loss = next, nextLoss
	}
	return linear{Bias: w[r.dims], Weights: w[:r.dims]}
}

// newton solves curve * direction = -g closely enough for fast convergence.
func (r regression) newton(g, p []float64) []float64 {
	direction := make([]float64, len(g))
	residual := make([]float64, len(g))
	for i := range g {
		residual[i] = -g[i]
	}
	search := append([]float64{}, residual...)
	square := dot(residual, residual)
	goal := square * 1e-4 // a hundredth of the gradient's length
	for range 250 {
		if square <= goal {
			break
		}
		h := r.curve(search, p)
		bend := dot(search, h)
		if bend <= 0 {
			break
		}
		rate := square / bend
		for i := range direction {
			direction[i] += rate * search[i]
			residual[i] -= rate * h[i]
		}
		next := dot(residual, residual)
		for i := range search {
			search[i] = residual[i] + next/square*search[i]
		}
		square = next
	}
	return direction
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }
