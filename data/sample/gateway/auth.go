package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

type contextKey int

const userKey contextKey = iota

// SessionHeader carries the opaque session of a signed-in person.
const SessionHeader = "X-Parcelworks-Session"

var errNoSession = errors.New("PW-4010: no session")

// SessionStore finds out who a session belongs to.
type SessionStore interface {
	Lookup(ctx context.Context, session string) (user string, err error)
}

// RequireSession lets a request pass only when it belongs to a known person,
// and leaves that person's name in the request context.
func RequireSession(store SessionStore, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := sessionFrom(r)
		if err != nil {
			writeError(w, http.StatusUnauthorized, err)
			return
		}
		user, err := store.Lookup(r.Context(), session)
		if err != nil {
			writeError(w, http.StatusForbidden, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey, user)))
	})
}

func sessionFrom(r *http.Request) (string, error) {
	value := strings.TrimSpace(r.Header.Get(SessionHeader))
	if value == "" {
		return "", errNoSession
	}
	return value, nil
}

// UserFrom returns the person that RequireSession recognised.
func UserFrom(ctx context.Context) (string, bool) {
	user, ok := ctx.Value(userKey).(string)
	return user, ok
}

// Throttle answers 429 to clients that send faster than their bucket fills.
func Throttle(table *BucketTable, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !table.For(clientAddress(r)).Take(time.Now()) {
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusTooManyRequests, errors.New("PW-4290: slow down"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
