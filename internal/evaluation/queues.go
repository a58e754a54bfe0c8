package evaluation

// Queues returns the task queues that the evaluation needs workers on.
func (s Spec) Queues() []string {
	queues := []string{QueueMain, QueueAudio, s.Detection.Queue()}
	if !s.Dataset.Clips {
		queues = append(queues, SpeechQueue(s.Speech.Synthesizer))
	}
	return queues
}
