package gateway

import (
	"sync"
	"time"
)

// TokenBucket is the edge counterpart of the limiter in the order service.
// It protects the gateway itself, per client address.
type TokenBucket struct {
	mu       sync.Mutex
	capacity float64
	perSec   float64
	tokens   float64
	last     time.Time
}

// NewTokenBucket returns a full bucket.
func NewTokenBucket(capacity, perSec float64) *TokenBucket {
	return &TokenBucket{capacity: capacity, perSec: perSec, tokens: capacity, last: time.Now()}
}

// Take removes one token and reports whether there was one to remove.
func (b *TokenBucket) Take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

func (b *TokenBucket) refill(now time.Time) {
	if elapsed := now.Sub(b.last).Seconds(); elapsed > 0 {
		b.tokens = min(b.capacity, b.tokens+elapsed*b.perSec)
		b.last = now
	}
}

// BucketTable keeps one bucket per client and forgets the idle ones.
type BucketTable struct {
	mu      sync.Mutex
	buckets map[string]*TokenBucket
}

func NewBucketTable() *BucketTable {
	return &BucketTable{buckets: make(map[string]*TokenBucket)}
}

func (t *BucketTable) For(client string) *TokenBucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	bucket, ok := t.buckets[client]
	if !ok {
		bucket = NewTokenBucket(40, 10)
		t.buckets[client] = bucket
	}
	return bucket
}

// Sweep deletes clients not heard from since the cutoff, so that the table
// does not grow for ever. It returns how many were dropped.
func (t *BucketTable) Sweep(cutoff time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	dropped := 0
	for client, bucket := range t.buckets {
		bucket.mu.Lock()
		idle := bucket.last.Before(cutoff)
		bucket.mu.Unlock()
		if idle {
			delete(t.buckets, client)
			dropped++
		}
	}
	return dropped
}
