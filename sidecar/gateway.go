package sidecar

import (
	"cmp"
	"context"
	"encoding/json"

	"pillion/agents/gateway"
	"pillion/config"
	"pillion/rpc"
	"pillion/tools"
)

// TokenVariable is where the token for a gateway may be.
const TokenVariable = "PILLION_GATEWAY_TOKEN"

// Gateway is the way in for gateways. It is made before the first call.
func (c *Sidecar) Gateway(version string) *gateway.Gateway {
	g := gateway.New(gateway.Host{
		Registry: c.Registry, Sessions: c.Sessions, Conversations: c.Conversations,
		Settings: c.gatewaySettings,
		Reserved: rpc.EditorSession,
		Resolve:  c.Resolve,
		Changed:  func(s gateway.State) { c.events.Gateway(s) },
		Frame:    c.events.Frame,
		Version:  version,
		Logf:     logf,
	})
	before := c.Registry.Activity
	c.Registry.Activity = func(a tools.Activity) {
		if before != nil {
			before(a)
		}
		g.Heard(a)
	}
	return g
}

// Resolve gives the workspace's name of a path.
func (c *Sidecar) Resolve(path string) (string, error) {
	p, err := c.workspace.Resolve(path)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

func (c *Sidecar) gatewaySettings() gateway.Settings {
	set := c.ownSettings()
	return gateway.Settings{
		Execution: set.Gateway.Execution, Rejection: set.Gateway.Rejection, Errors: set.Gateway.Errors, Codes: set.Gateway.Codes,
		AllowInsecure: set.Gateway.AllowInsecure, CodeLab: set.Limits.Preset == config.CodeLab,
	}
}

// ownSettings are the settings as the last call found them.
func (c *Sidecar) ownSettings() config.Settings {
	c.settings.mu.Lock()
	defer c.settings.mu.Unlock()
	return c.settings.view.Settings
}

// GatewayURL is the address that is set.
func (c *Sidecar) GatewayURL() string { return c.ownSettings().Gateway.URL }

// GatewayToken is the token that the user's settings or environment give: what the program
// of gateway.tokenCommand prints, else TokenVariable.
func (c *Sidecar) GatewayToken() (string, error) {
	return secret(context.Background(), "gateway.tokenCommand", c.ownSettings().Gateway.TokenCommand, TokenVariable)
}

// gateways is the gateway as the editor's side takes it.
type gateways struct {
	*gateway.Gateway
	sidecar *Sidecar
}

// Connect connects, with the token of the settings where the editor has none.
func (g gateways) Connect(url string, token *string, sessionID string) (any, error) {
	if token == nil {
		own, err := g.sidecar.GatewayToken()
		if err != nil {
			return nil, err
		}
		token = &own
	}
	return g.Gateway.Connect(cmp.Or(url, g.sidecar.GatewayURL()), *token, sessionID)
}

func (g gateways) Disconnect(sessionID string) any { return g.Gateway.Disconnect(sessionID) }

func (g gateways) Status() any {
	newest, all := g.Gateway.Status()
	return struct {
		gateway.State
		Connections []gateway.State `json:"connections"`
	}{newest, all}
}

func (g gateways) Message(frame json.RawMessage) error { return g.Gateway.Message(frame) }
