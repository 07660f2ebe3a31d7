// The client of a command for a whole host in this process.
import type { HostClient } from '../../../supervisor/cli/command.ts';
import { problemError } from '../../../supervisor/cli/connect/host-client.ts';
import type { Running } from './app-host.ts';

export function createHostClient(host: Running): HostClient {
  const url = `http://127.0.0.1:${host.app.address()?.port}`;
  const authorization = (): string => `Bearer ${host.project.token}`;
  return {
    url,
    authorization,
    refusal: problemError,
    awaited: (ask) => ask(new AbortController().signal),
    async request(method, path, { body, headers = {}, idempotencyKey } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          Authorization: authorization(),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = text === '' ? undefined : (JSON.parse(text) as unknown);
      if (!response.ok) throw problemError(response.status, json, `${method} ${path}`);
      return { status: response.status, headers: response.headers, body: json };
    },
  };
}
