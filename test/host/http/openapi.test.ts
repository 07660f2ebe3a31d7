// The OpenAPI document: valid, and the same as the route table in both directions; answers are as it says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { documentPath } from '../../../worker/http/answer/openapi.ts';
import { schemas } from '../../../worker/http/answer/schemas.ts';
import { ROUTES } from '../../../worker/http/routes/route-table.ts';
import { DEMO_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { startHttp } from '../../support/http/http-server.ts';
import { examplePath } from '../../support/http/route-examples.ts';

interface Operation {
  readonly operationId: string;
  readonly 'x-svc-scope': string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean };
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The API that clients rely on. */
const PROMISED: readonly (readonly [route: string, scope: string])[] = [
  ['GET /pub/health', 'none'],
  ['GET /pub/ready', 'none'],
  ['GET /api/system/readiness', 'full'],
  ['GET /api/system/status', 'demo'],
  ['POST /api/system/restart', 'full'],
  ['POST /api/system/reload', 'full'],
  ['GET /api/system/ingress', 'demo'],
  ['PUT /api/system/ingress', 'full'],
  ['GET /api/system/ingress/preview', 'full'],
  ['GET /api/events', 'demo'],
  ['GET /api/ws', 'demo'],
  ['POST /webhooks/{path+}', 'none'],
  ['GET /api/metrics', 'demo'],
  ['GET /api/figures', 'demo'],
  ['GET /api/alerts', 'demo'],
  ['GET /api/endpoints', 'demo'],
  ['GET /api/inbox', 'demo'],
  ['GET /api/outbox', 'demo'],
  ['GET /api/inbox/groups', 'demo'],
  ['POST /api/inbox/replay', 'full'],
  ['POST /api/outbox/drop', 'full'],
  ['POST /api/inbox/{id}/replay', 'full'],
  ['POST /api/inbox/{id}/hold', 'full'],
  ['POST /api/outbox/{id}/drop', 'full'],
  ['GET /api/tasks', 'full'],
  ['POST /api/tasks/{id}/cancel', 'full'],
  ['GET /api/logs', 'full'],
  ['GET /api/config', 'full'],
  ['GET /api/openapi.json', 'demo'],
  ['GET /', 'none'],
];

describe('the OpenAPI document', () => {
  it('names the header by which a stream is resumed, over SSE and over a WebSocket', async (t) => {
    const server = await startHttp(t);
    const { paths } = (await (await server.fetch('/api/openapi.json', { token: DEMO_TOKEN })).json()) as Document;

    for (const path of ['/api/events', '/api/ws'])
      assert.ok(
        paths[path]?.['get']?.parameters.some(({ name, in: where }) => name === 'Last-Event-ID' && where === 'header'),
        path,
      );
  });

  it('is valid OpenAPI 3.1', async (t) => {
    const server = await startHttp(t, { base: '/bot' });
    const response = await server.fetch('/bot/api/openapi.json', { token: DEMO_TOKEN });
    const document = (await response.json()) as Document;

    const result = await new Validator().validate({ ...document });

    assert.equal(response.status, 200);
    assert.equal(document.openapi, '3.1.0');
    assert.deepEqual(result.errors ?? [], []);
    assert.equal(result.valid, true);
  });

  it('names every route of the table and nothing else', async (t) => {
    const server = await startHttp(t);
    const { paths } = (await (await server.fetch('/api/openapi.json')).json()) as Document;

    const inDocument = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, operation]) =>
          `${method.toUpperCase()} ${path} ${operation['x-svc-scope']} ${operation.security.length}`,
      ),
    );
    const inTable = ROUTES.map(
      ({ method, path, scope }) => `${method} ${documentPath(path)} ${scope} ${scope === 'none' ? 0 : 1}`,
    );

    assert.deepEqual(inDocument.toSorted(), inTable.toSorted());
    const ids = Object.values(paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    assert.equal(new Set(ids).size, ids.length);
  });

  it('has each route under the scope that is promised for it', () => {
    const scopes = new Map(ROUTES.map(({ method, path, scope }) => [`${method} ${path}`, scope]));

    assert.deepEqual(
      PROMISED.filter(([route, scope]) => scopes.get(route) !== scope).map(([route]) => route),
      [],
    );
  });

  it('lists Idempotency-Key on every change below /api, and If-Match where a revision is', async (t) => {
    const server = await startHttp(t);
    const { paths } = (await (await server.fetch('/api/openapi.json')).json()) as Document;
    for (const { method, path, revision } of ROUTES.filter(
      (route) => route.path.startsWith('/api/') && route.method !== 'GET',
    )) {
      const names = paths[documentPath(path)]?.[method.toLowerCase()]?.parameters.map(({ name }) => name) ?? [];
      assert.ok(names.includes('Idempotency-Key'), path);
      assert.equal(names.includes('If-Match'), revision !== undefined, path);
    }
  });

  it('says of each body whether the request may go without it', async (t) => {
    const server = await startHttp(t);
    const { paths } = (await (await server.fetch('/api/openapi.json')).json()) as Document;
    const said: Record<string, boolean | undefined> = {};
    const found: Record<string, boolean> = {};
    for (const route of ROUTES.filter(({ path, method }) => path.startsWith('/api/') && method !== 'GET')) {
      const { method, path } = route;
      said[`${method} ${path}`] = paths[documentPath(path)]?.[method.toLowerCase()]?.requestBody?.required;
      const { status } = await server.fetch(examplePath(route), { method });
      found[`${method} ${path}`] = status === 400;
    }

    assert.deepEqual(said, found);
    assert.equal(found['PUT /api/system/ingress'], true);
  });

  it('describes the answers that are given', async (t) => {
    const server = await startHttp(t);
    const ajv = new Ajv2020({ strict: false });
    const reading = ROUTES.filter(({ method, path }) => method === 'GET' && path.startsWith('/api/'));
    for (const route of reading) {
      const kind = route.answers[200];
      if (kind === undefined || !(kind in schemas)) continue;
      const response = await server.fetch(
        `${examplePath(route)}${route.path === '/api/chat/messages' ? '?person=a' : ''}`,
      );
      const validate = ajv.compile(schemas[kind as keyof typeof schemas]);
      assert.ok(validate(await response.json()), `${route.path}: ${ajv.errorsText(validate.errors)}`);
    }
    const problem = ajv.compile(schemas.Problem);
    assert.ok(problem(await (await server.fetch('/api/nothing')).json()));
  });
});
