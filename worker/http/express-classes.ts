// Express without its usual cost. Express replaces the prototype of each request and response, which takes two thirds of
// the speed of node:http. Here the server makes both as classes whose prototypes already are the ones that Express would
// set, so that the replacement changes nothing. A test compares the prototypes; mounted sub-apps would undo it: use Routers.
import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import { newContext, type RequestContext } from './request-context.ts';

export interface ExpressClasses {
  readonly Request: typeof IncomingMessage;
  readonly Response: typeof ServerResponse<IncomingMessage>;
}

/** Classes for `http.createServer`, tied to this one app. */
export function expressClasses(app: Express): ExpressClasses {
  class Request extends IncomingMessage {
    readonly context: RequestContext = newContext();
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
