// Guards the cure for Express's cost: no request and no response gets another prototype than the one it was made with.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import express from 'express';
import { expressClasses } from '../../../worker/http/express-classes.ts';

interface Seen {
  readonly request: object;
  readonly response: object;
}

const prototypes = (request: IncomingMessage, response: ServerResponse): Seen => ({
  request: Object.getPrototypeOf(request) as object,
  response: Object.getPrototypeOf(response) as object,
});

describe('Express without its cost', () => {
  it('keeps the prototypes that the server made', async (t) => {
    const app = express();
    let inside: Seen | undefined;
    app.use((request, response) => {
      inside = prototypes(request, response);
      response.json({ address: request.ip, app: request.app === app });
    });
    const { Request, Response, bind } = expressClasses(() => false);
    bind(app);
    let before: Seen | undefined;
    const server = createServer({ IncomingMessage: Request, ServerResponse: Response }, (request, response) => {
      before = prototypes(request, response);
      app(request as Parameters<typeof app>[0], response as Parameters<typeof app>[1]);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());

    const answer = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).json();

    assert.deepEqual(answer, { address: '127.0.0.1', app: true });
    assert.equal(inside?.request, before?.request);
    assert.equal(inside?.response, before?.response);
    assert.equal(before?.request, Request.prototype);
    assert.equal(before?.response, Response.prototype);
  });

  it('never replaces a prototype while a request runs', async (t) => {
    const app = express();
    app.use((_request, response) => void response.end('done'));
    const { Request, Response, bind } = expressClasses(() => false);
    bind(app);
    const server = createServer({ IncomingMessage: Request, ServerResponse: Response }, (request, response) => {
      app(request as Parameters<typeof app>[0], response as Parameters<typeof app>[1]);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { setPrototypeOf } = Object;
    let replaced = 0;
    Object.setPrototypeOf = (object: object, prototype: object | null) => {
      if (Object.getPrototypeOf(object) !== prototype) replaced += 1;
      return setPrototypeOf(object, prototype) as never;
    };
    t.after(() => {
      Object.setPrototypeOf = setPrototypeOf;
    });

    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

    assert.equal(replaced, 0);
  });
});
