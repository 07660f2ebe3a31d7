// What is kept of a delivery beside its text: an id where the platform gives none, and headers without a secret (W5 of webhooks.ts).
import { createHash } from 'node:crypto';
import type { Core } from '../core/core.ts';
import type { HeaderMap, RawRequest } from '../sdk/index.ts';

/** Deliveries without an id of the platform are told apart by their body within this time. */
const WEAK_BUCKET_MS = 600_000;
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

export const weakId = ({ body, receivedAt }: RawRequest): string =>
  `weak-${createHash('sha256').update(body).digest('hex')}-${Math.floor(receivedAt / WEAK_BUCKET_MS)}`;

export const keptHeaders = ({ mask = (text) => text }: Pick<Core, 'mask'>, headers: HeaderMap): HeaderMap =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || SECRET_HEADERS.has(name) ? [] : [[name, mask(value)]],
    ),
  );
