// The JSON body of a request to /api: media type, bytes and schema.
// A validator is compiled at the first request with that schema, so a start compiles none.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ValidateFunction } from 'ajv';
import { loadAjv } from '../../../shared/load-ajv.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { SchemaName } from '../answer/schemas.ts';
import { readBody } from './body.ts';
import { bodyFaults } from './body-faults.ts';
import { readStrictJson } from './strict-json.ts';
import { type BodyCheck, isForm, refuseTokenInBody } from './token-elsewhere.ts';

export class BodyValidators {
  readonly #compiled = new Map<SchemaName, Promise<ValidateFunction>>();

  /** True if the schema has a top-level field of this name. */
  async hasField(schema: SchemaName, field: string): Promise<boolean> {
    const { schemas } = await import('../answer/schemas.ts');
    const { properties = {} } = schemas[schema] as { readonly properties?: object };
    return Object.hasOwn(properties, field);
  }

  /** Throws `invalid_request` with path and expectation, never the value. */
  async check(name: SchemaName, value: unknown): Promise<void> {
    let compiled = this.#compiled.get(name);
    if (compiled === undefined) {
      compiled = compile(name);
      this.#compiled.set(name, compiled);
      compiled.catch(() => this.#compiled.delete(name)); // the next one tries again
    }
    const validate = await compiled;
    if (validate(value)) return;
    const faults = bodyFaults(validate.errors ?? []);
    throw new SvcError('invalid_request', 'the body does not fit its schema', {
      hint: 'The schema of the body is in /api/openapi.json.',
      details: { faults },
    });
  }
}

async function compile(name: SchemaName): Promise<ValidateFunction> {
  const { schemas } = await import('../answer/schemas.ts');
  const Ajv = loadAjv();
  return new Ajv({ strict: false, allErrors: false }).compile(schemas[name]);
}

export interface JsonRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly limitBytes: number;
  readonly check: BodyCheck;
}

/** The parsed body and its bytes. No body is an empty object. */
export async function readJsonBody({
  request,
  response,
  limitBytes,
  check,
}: JsonRequest): Promise<{ readonly value: unknown; readonly bytes: Buffer }> {
  const mediaFault = findMediaFault(request);
  if (mediaFault !== undefined && !isForm(request)) throw mediaFault;
  const bytes = await readBody(request, response, limitBytes);
  await refuseTokenInBody(request, bytes, check);
  if (mediaFault !== undefined) throw mediaFault;
  if (bytes.length === 0) return { value: {}, bytes };
  if (request.headers['content-type'] === undefined) throw needsJson();
  const verdict = readStrictJson(bytes);
  if (verdict.kind === 'malformed') throw new SvcError('invalid_request', verdict.reason);
  if (verdict.kind === 'too_large') throw new SvcError('body_too_large', verdict.reason);
  return { value: verdict.value, bytes };
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i;

function findMediaFault(request: IncomingMessage): SvcError | undefined {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new SvcError('unsupported_media_type', 'a body here has no content coding');
  }
  return type !== undefined && !JSON_TYPE.test(type) ? needsJson() : undefined;
}

const needsJson = (): SvcError =>
  new SvcError('unsupported_media_type', 'a body here is JSON', { hint: 'Send Content-Type: application/json.' });
