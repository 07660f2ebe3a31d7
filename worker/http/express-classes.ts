// Makes Express as fast as plain node:http. Express replaces the prototype of each request and response, which costs two thirds of the
// speed. The server's own classes already have the prototypes that Express would set, so the replacement costs nothing. Mounted sub-apps
// would undo it: use Routers. A test compares the prototypes.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express } from 'express';
import { newContext, type RequestContext } from './request/request-context.ts';

export interface ExpressClasses {
  readonly Request: typeof IncomingMessage;
  readonly Response: typeof ServerResponse<IncomingMessage>;
}

const held = new WeakSet<IncomingMessage>();

/** True if the request was presented to Node as an upgrade. So it stays unread until earlier requests are answered. */
export const isHeld = (request: IncomingMessage): boolean => held.has(request);

/** Classes for `http.createServer`, bound to this app. `isFull`: the next request of the connection has to wait. */
export function expressClasses(app: Express, isFull: (socket: Socket) => boolean): ExpressClasses {
  class Request extends IncomingMessage {
    readonly context: RequestContext = newContext();
    #offersUpgrade: boolean | null = null;

    get upgrade(): boolean | null {
      return this.#offersUpgrade;
    }
    /** Node's parser sets it after the headers, and Node's server when it decides about the upgrade. */
    set upgrade(offers: boolean | null) {
      if (!(#offersUpgrade in this)) return; // the constructor of IncomingMessage sets it before this class has its fields
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
