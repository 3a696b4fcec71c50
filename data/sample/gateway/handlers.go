// Package gateway is the public HTTP entrance of parcelworks.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
)

const maxBody = 1 << 20

// Backend is the order service as the gateway sees it.
type Backend interface {
	CreateOrder(ctx context.Context, user, key string, body json.RawMessage) (string, error)
	Events(ctx context.Context, parcel string) ([]Event, error)
}

// Event is one scan of a parcel.
type Event struct {
	At     string `json:"at"`
	Status string `json:"status"`
	Depot  string `json:"depot,omitempty"`
}

// Server holds what the handlers share.
type Server struct {
	backend Backend
	buckets *BucketTable
}

// Routes wires up all public addresses.
func (s *Server) Routes(store SessionStore) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.handleHealth)
	mux.HandleFunc("GET /v1/parcels/{id}/events", s.handleEvents)
	mux.Handle("POST /v1/orders", RequireSession(store, http.HandlerFunc(s.handleCreateOrder)))
	return Throttle(s.buckets, mux)
}

func (s *Server) handleHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) handleEvents(w http.ResponseWriter, r *http.Request) {
	events, err := s.backend.Events(r.Context(), r.PathValue("id"))
	if errors.Is(err, context.Canceled) {
		return // the browser has gone away, nobody reads the answer
	}
	if err != nil {
		writeError(w, http.StatusBadGateway, err)
		return
	}
	writeJSON(w, http.StatusOK, events)
}

// handleCreateOrder passes an order on. Without an idempotency header it is
// refused, because a repeated click could otherwise be charged twice.
func (s *Server) handleCreateOrder(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Parcelworks-Idempotency")
	if key == "" {
		writeError(w, http.StatusBadRequest, errors.New("PW-4001: idempotency header missing"))
		return
	}
	var body json.RawMessage
	if err := decodeBody(w, r, &body); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	user, _ := UserFrom(r.Context())
	id, err := s.backend.CreateOrder(r.Context(), user, key, body)
	if err != nil {
		writeError(w, http.StatusBadGateway, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]string{"id": id})
}

// decodeBody reads JSON and gives up on anything larger than one mebibyte.
func decodeBody(w http.ResponseWriter, r *http.Request, target any) error {
	return json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(target)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Printf("write answer: %v", err)
	}
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"message": err.Error()})
}
