// Validates an HTTP answer of a plugin or an adapter before anything is committed or sent. Both may be plain JavaScript. Pure.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { messageOf } from '../../shared/svc-error.ts';
import type { HttpAnswer } from '../sdk/index.ts';

const KEYS: readonly string[] = ['status', 'headers', 'json', 'text'] satisfies (keyof HttpAnswer)[];

/** The fault, worded to follow "answers with"; undefined if there is none. No answer at all is valid: it has no body. */
export function faultOfAnswer(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer !== 'object' || Array.isArray(answer))
    return `${kindOf(answer)}; expected an object with status, headers, json or text`;
  const unknown = Object.keys(answer).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `the unknown key ${unknown}; expected status, headers, json or text`;
  const { status, headers, json, text } = answer as Readonly<Record<string, unknown>>;
  if (status !== undefined && !isStatus(status)) return `status ${String(status)}; expected a number of 200 to 599`;
  if (text !== undefined && typeof text !== 'string') return `a text that is ${kindOf(text)}; expected a string`;
  return faultOfHeaders(headers) ?? faultOfJson(json);
}

const isStatus = (status: unknown): boolean =>
  Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;

function faultOfHeaders(headers: unknown): string | undefined {
  if (headers === undefined) return undefined;
  if (Object.prototype.toString.call(headers) !== '[object Object]')
    return `headers that are ${kindOf(headers)}; expected an object of texts by name`;
  for (const [name, value] of Object.entries(headers as object)) {
    if (value === undefined) continue;
    const values: readonly unknown[] = [value].flat();
    const other = values.find((one) => typeof one !== 'string' && typeof one !== 'number');
    if (other !== undefined) return `a header ${name} that is ${kindOf(other)}; expected a string`;
    const fault = thrown(() => {
      validateHeaderName(name);
      for (const one of values) validateHeaderValue(name, String(one));
    });
    if (fault !== undefined) return `what cannot be sent: ${fault}`;
  }
  return undefined;
}

function faultOfJson(json: unknown): string | undefined {
  if (json === undefined) return undefined;
  let text: string | undefined;
  const fault = thrown(() => {
    text = JSON.stringify(json);
  });
  if (fault !== undefined) return `what cannot be sent: ${fault}`;
  return text === undefined ? `json that is ${kindOf(json)}; expected what JSON knows` : undefined;
}

function thrown(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const name = typeof value === 'object' ? (value.constructor?.name ?? 'Object') : typeof value;
  return /^[aeiou]/i.test(name) ? `an ${name}` : `a ${name}`;
}
