// What a command gets, for tests that run a command in this process against a host on a port: output is kept, colours are off.

import { ERRORS, type ErrorCode } from '../../../shared/error-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext, HostClient } from '../../../supervisor/cli/command.ts';
import { problemError } from '../../../supervisor/cli/connect/host-client.ts';

export interface CapturedContext extends CommandContext {
  readonly out: readonly string[];
  readonly notes: readonly string[];
  /** Lines of NDJSON and documents, parsed. */
  readonly documents: readonly unknown[];
  abort(): void;
}

export function capturedContext(url: string | (() => string), { json = false } = {}): CapturedContext {
  const out: string[] = [];
  const notes: string[] = [];
  const documents: unknown[] = [];
  const abort = new AbortController();
  const plain = (text: string): string => text;
  return {
    json,
    env: {},
    cwd: '/',
    interactive: false,
    signal: abort.signal,
    abort: () => abort.abort(),
    out,
    notes,
    documents,
    project: () => '/',
    end: (error) => {
      throw error;
    },
    print: {
      text: (line) => void (json || out.push(line)),
      json: (document) => void (json && documents.push(document)),
      line: (document) => void documents.push(document),
      table: (head, rows) => void (json || out.push(head.join(' | '), ...rows.map((row) => row.join(' | ')))),
      note: (line) => void notes.push(line),
      color: { good: plain, bad: plain, warn: plain, dim: plain, bold: plain },
    },
    host: () => Promise.resolve(hostClient(typeof url === 'string' ? url : url())),
  };
}

function hostClient(url: string): HostClient {
  return {
    url,
    authorization: () => 'Bearer token',
    refusal: problemError,
    awaited: (ask) => ask(new AbortController().signal),
    async request(method, path, { body, headers = {}, idempotencyKey } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          Authorization: 'Bearer token',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as Readonly<Record<string, unknown>>;
      if (response.ok) return { status: response.status, headers: response.headers, body: answer };
      const code = String(answer['code']);
      throw new SvcError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal', String(answer['title']));
    },
  };
}
