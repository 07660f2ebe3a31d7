// Makes Express as fast as plain node:http. Express replaces the prototype of each request and response, which costs two thirds of the
// speed. The server's own classes already have the prototypes that Express would set, so the replacement costs nothing. Mounted sub-apps
// would undo it: use Routers. A test compares the prototypes.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { newContext, type RequestContext } from './request/request-context.ts';

export interface ExpressClasses {
  readonly Request: typeof IncomingMessage;
  readonly Response: typeof ServerResponse<IncomingMessage>;
  /** Gives them the prototypes that this app would set. */
  bind(app: Express): void;
}

const held = new WeakSet<IncomingMessage>();

/** True if the request was presented to Node as an upgrade. So it stays unread until earlier requests are answered. */
export const isHeld = (request: IncomingMessage): boolean => held.has(request);

/** Classes for `http.createServer`. `isFull`: the next request of the connection has to wait. */
export function expressClasses(isFull: (socket: Socket) => boolean): ExpressClasses {
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
  return {
    Request,
    Response,
    bind(app) {
      adopt(Request.prototype, app.request, app);
      adopt(Response.prototype, app.response, app);
      app.request = Request.prototype as unknown as typeof app.request;
      app.response = Response.prototype as unknown as typeof app.response;
    },
  };
}

/** `own`: what the app would set, an object over what all apps share. */
function adopt(prototype: object, own: object, app: Express): void {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(own) as object);
  Object.defineProperty(prototype, 'app', { value: app, configurable: true, enumerable: true, writable: true });
}
