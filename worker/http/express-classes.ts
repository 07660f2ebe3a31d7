// Express without its usual cost. Express replaces the prototype of each request and response, which takes two thirds of
// the speed of node:http. Here the server makes both as classes whose prototypes already are the ones that Express would
// set, so that the replacement changes nothing. A test compares the prototypes; mounted sub-apps would undo it: use Routers.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express } from 'express';
import { newContext, type RequestContext } from './request/request-context.ts';

export interface ExpressClasses {
  readonly Request: typeof IncomingMessage;
  readonly Response: typeof ServerResponse<IncomingMessage>;
}

const held = new WeakSet<IncomingMessage>();

/** Node takes it for an upgrade, which it is none: its connection has to wait (held-requests.ts). */
export const isHeld = (request: IncomingMessage): boolean => held.has(request);

/** Classes for `http.createServer`, tied to this one app. `isFull`: a request that is read now has to wait. */
export function expressClasses(app: Express, isFull: (socket: Socket) => boolean): ExpressClasses {
  class Request extends IncomingMessage {
    readonly context: RequestContext = newContext();
    #offersUpgrade: boolean | null = null;

    get upgrade(): boolean | null {
      return this.#offersUpgrade;
    }
    /** Set by the parser once the headers are there, and by whoever decides about it. */
    set upgrade(offers: boolean | null) {
      if (!(#offersUpgrade in this)) return; // the constructor of the class above
      this.#offersUpgrade = offers;
      if (offers === null || !isFull(this.socket)) return;
      held.add(this);
      this.#offersUpgrade = true;
    }
  }
  class Response extends ServerResponse {}
  adopt(Request.prototype, express.request, app);
  adopt(Response.prototype, express.response, app);
  app.request = Request.prototype as unknown as typeof app.request;
  app.response = Response.prototype as unknown as typeof app.response;
  return { Request, Response };
}

function adopt(prototype: object, parent: object, app: Express): void {
  Object.setPrototypeOf(prototype, parent);
  Object.defineProperty(prototype, 'app', { value: app, configurable: true, enumerable: true, writable: true });
}
