// Parts of a delivery stored with its text: an id if the platform gives none, and headers without secrets.
import { createHash } from 'node:crypto';
import type { Core } from '../core/core.ts';
import type { HeaderMap, RawRequest } from '../sdk/index.ts';

/** Ids made from the body also name a window of this length: equal bodies within one window count as one delivery. */
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
