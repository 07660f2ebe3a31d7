// Builds the OpenAPI 3.1 document from the route table and the wire schemas. The document lists exactly the routes of the table.
import { STATUS_CODES } from 'node:http';
import type { AnswerKind, QueryField, Route } from '../routes/route.ts';
import { type SchemaName, schemas } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** The path of a route in OpenAPI syntax. */
export const documentPath = (path: string): string => path.replace(/\{(\w+)[+*]\}/g, '{$1}');

export interface DocumentOptions {
  readonly routes: readonly Route[];
  readonly version: string;
  readonly base: string;
}

export function openapiDocument({ routes, version, base }: DocumentOptions): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = documentPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version, description: 'The HTTP interface of a host of svc.' },
    servers: [{ url: base === '' ? '/' : base }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: JSON.parse(JSON.stringify(schemas)) as Json,
    },
  };
}

function operationOf(route: Route): Json {
  const isPublic = route.scope === 'none';
  return {
    operationId: operationId(route),
    summary: route.summary,
    'x-svc-scope': route.scope,
    security: isPublic ? [] : [{ bearer: [] }],
    parameters: parametersOf(route),
    ...bodyOf(route),
    responses: { ...responsesOf(route), default: defaultOf(route) },
  };
}

function bodyOf({ body, raw, method }: Route): Json {
  if (body !== undefined) return { requestBody: { required: isNeeded(body), content: jsonOf(body) } };
  if (raw !== true || method === 'GET') return {};
  return { requestBody: { required: false, content: { '*/*': { schema: {} } } } };
}

/** True if the schema has required fields. Without one, no body is accepted as an empty object. */
const isNeeded = (body: SchemaName): boolean =>
  ((schemas[body] as { required?: readonly string[] }).required ?? []).length > 0;

/** `GET /api/inbox/{id}` is `get_api_inbox_id`. */
const operationId = ({ method, path }: Route): string =>
  `${method.toLowerCase()}${path.replace(/[{}+*]/g, '').replace(/[^A-Za-z0-9]+/g, '_')}`.replace(/_$/, '_index');

function parametersOf(route: Route): readonly Json[] {
  const inPath = [...route.path.matchAll(/\{(\w+)([+*]?)\}/g)].map(([, name, many]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(many === '' ? {} : { description: 'May hold slashes, written as they are.' }),
  }));
  const inQuery = Object.entries(route.query ?? {}).map(([name, { description, ...schema }]: [string, QueryField]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
  return [...inPath, ...inQuery, ...headersOf(route)];
}

function headersOf(route: Route): readonly Json[] {
  const header = (name: string, description: string): Json => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  });
  return [
    ...(route.changes === true
      ? [header('Idempotency-Key', 'The same key again gets the same answer, done once')]
      : []),
    ...(route.revision === undefined ? [] : [header('If-Match', 'Only when this is still its entity tag')]),
    ...(route.query?.['lastEventId'] !== undefined ? [header('Last-Event-ID', 'Resume after this event')] : []),
  ];
}

function responsesOf(route: Route): Json {
  const entries = Object.entries(route.answers).map(([status, kind]) => [
    status,
    { description: STATUS_CODES[status] ?? 'Answer', ...contentOf(kind) },
  ]);
  return Object.fromEntries(entries) as Json;
}

/** Adapters and plugins may answer with any status and media type. */
const defaultOf = ({ answers }: Route): Json =>
  Object.values(answers).includes('any')
    ? { description: 'Another answer, or a problem', content: { ...problemContent, '*/*': { schema: {} } } }
    : { description: 'A problem', content: problemContent };

const problemContent = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
const jsonOf = (name: string): Json => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

function contentOf(kind: AnswerKind): Json {
  switch (kind) {
    case 'nothing':
    case 'websocket':
      return {};
    case 'any':
      return { content: { '*/*': { schema: {} } } };
    case 'page':
      return { content: { 'text/html': { schema: { type: 'string' } } } };
    case 'prometheus':
      return { content: { 'text/plain': { schema: { type: 'string' } } } };
    case 'event-stream':
      return { content: { 'text/event-stream': { schema: { type: 'string' } }, ...jsonOf('EventPage') } };
    case 'Problem':
      return { content: problemContent };
    default:
      return { content: jsonOf(kind) };
  }
}
