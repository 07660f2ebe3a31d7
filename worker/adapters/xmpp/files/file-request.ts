// One HTTP request for a file, whose address is checked first.
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { SizedContent } from '../../../sdk/platform/sized-file.ts';
import type { Account } from '../config.ts';
import { addressFault, guardedLookup } from './addresses.ts';

export interface FileRequest {
  readonly url: string;
  readonly method: 'GET' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: SizedContent;
  readonly signal: AbortSignal;
}

/** Resolves to the answer with its body unread. Throws if the address is not allowed or there is no answer. */
export function requestFile(
  { url: text, method, headers, body, signal }: FileRequest,
  { fileHosts, verifyCertificate }: Pick<Account, 'fileHosts' | 'verifyCertificate'>,
): Promise<IncomingMessage> {
  const url = new URL(text);
  const fault = addressFault(url, fileHosts);
  if (fault !== undefined) return Promise.reject(new Error(`${url.host} is not called: ${fault}`));
  return new Promise((resolve, reject) => {
    const lookup = guardedLookup(url, fileHosts);
    const options = {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-length': String(body.bytes) },
      signal,
      agent: false as const,
      ...(lookup === undefined ? {} : { lookup }),
    };
    const asked: ClientRequest =
      url.protocol === 'http:'
        ? plainRequest(url, options, resolve)
        : secureRequest(
            url,
            { ...options, ...(lookup === undefined ? { rejectUnauthorized: verifyCertificate } : {}) },
            resolve,
          );
    asked.once('error', (cause) => reject(new Error(`${url.host} was not reached: ${cause.message}`, { cause })));
    if (body === undefined) return void asked.end();
    // pipeline also closes the file if the request ends early.
    pipeline(body.content(), asked).catch((error: unknown) => asked.destroy(error as Error));
  });
}
