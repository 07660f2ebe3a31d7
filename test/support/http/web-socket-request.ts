// What a client sends to open a WebSocket, for tests that write the request themselves.

export const UPGRADE_HEADERS: readonly string[] = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The subprotocol in which a browser sends the token. */
export const bearerProtocol = (token: string): string => `svc.bearer.${Buffer.from(token).toString('base64url')}`;
