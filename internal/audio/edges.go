package audio

import "math"

// Trim cuts quiet off both ends of p: what lies below thresholdDB relative to its loudest
// 5 ms, except for keepMillis next to what is left. Audio with nothing audible in it, below
// -70 dBFS throughout, comes back whole. The result shares its samples with p.
func Trim(p PCM, thresholdDB, keepMillis float64) PCM {
	size := max(1, p.Rate/200)
	var energy []float64 // mean square of each 5 ms
	loudest := 0.0
	for at := 0; at < len(p.Samples); at += size {
		cell := p.Samples[at:min(at+size, len(p.Samples))]
		var sum float64
		for _, v := range cell {
			sum += float64(v) * float64(v)
		}
		energy = append(energy, sum/float64(len(cell)))
		loudest = max(loudest, energy[len(energy)-1])
	}
	if loudest < 1e-7 {
		return p
	}
	threshold := loudest * math.Pow(10, thresholdDB/10)
	first, last := 0, len(energy)-1
	for energy[first] < threshold {
		first++
	}
	for energy[last] < threshold {
		last--
	}
	keep := int(keepMillis / 1000 * float64(p.Rate))
	start := max(0, first*size-keep)
	end := min(len(p.Samples), (last+1)*size+keep)
	return PCM{Rate: p.Rate, Samples: p.Samples[start:end]}
}

// fade shapes both edges of samples in place with a raised cosine of n samples, fewer when
// there are fewer than 2n.
func fade(samples []float32, n int) {
	n = min(n, len(samples)/2)
	for i := range n {
		w := float32(0.5 - 0.5*math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))
		samples[i] *= w
		samples[len(samples)-1-i] *= w
	}
}

// limit turns peaks of samples down in place so that the true peak stays at ceiling. The
// gain sinks before a peak and recovers after it, each within half a window, in the shape
// of a Hann window: nothing else of the sound is touched.
func limit(samples []float32, rate int, ceiling float64) {
	half := rate / 200 // 5 ms
	n := len(samples)

	// How far each sample's surroundings exceed the ceiling, held for half a window.
	excess := make([]float32, n)
	meter := newTruePeak()
	padded := make([]float32, n+peakTaps)
	copy(padded[peakHalf:], samples)
	for i := range n {
		peak := max(samples[i], -samples[i], meter.between(padded[i:]), meter.between(padded[i+1:]))
		if float64(peak) <= ceiling {
			continue
		}
		over := float32(1 - ceiling/float64(peak))
		for j := max(0, i-half); j < min(n, i+half+1); j++ {
			excess[j] = max(excess[j], over)
		}
	}

	// Smoothed by a window of the same length; at a peak all it covers is at least its own.
	window := make([]float32, 2*half+1)
	var sum float32
	for i := range window {
		window[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i+1)/float64(len(window)+1)))
		sum += window[i]
	}
	reduction := make([]float32, n)
	for i, over := range excess {
		if over == 0 {
			continue
		}
		for k, w := range window {
			if j := i + k - half; j >= 0 && j < n {
				reduction[j] += over * w / sum
			}
		}
	}
	for i, r := range reduction {
		samples[i] *= 1 - r
	}
}
