package gateway

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const drainTimeout = 20 * time.Second

// Serve runs the HTTP server until the context ends, then stops accepting
// connections and lets the open ones finish before it returns.
func Serve(ctx context.Context, server *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return errors.Join(errors.New("PW-5031: drain timed out"), err)
	}
	return nil
}

// sweepLoop cleans the bucket table once a minute until told to stop.
func sweepLoop(ctx context.Context, table *BucketTable) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if n := table.Sweep(now.Add(-10 * time.Minute)); n > 0 {
				log.Printf("forgot %d idle clients", n)
			}
		}
	}
}

// Run starts the gateway together with its background work and waits for both.
func Run(backend Backend, store SessionStore, address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	table := NewBucketTable()
	app := &Server{backend: backend, buckets: table}

	var background sync.WaitGroup
	background.Add(1)
	go func() {
		defer background.Done()
		sweepLoop(ctx, table)
	}()

	err := Serve(ctx, &http.Server{Addr: address, Handler: app.Routes(store)})
	stop()
	background.Wait()
	return err
}
