// Express, loaded behind a start: probes are answered without it, and most requests wait until the host is up.
import type { Express } from 'express';
import type { AppParts } from '../express-app.ts';
import type { ExpressClasses } from '../express-classes.ts';

export class LateExpress {
  readonly #parts: AppParts;
  readonly #classes: ExpressClasses;
  #loading: Promise<Express> | undefined;
  /** Undefined until it is loaded. */
  app: Express | undefined;

  constructor(parts: AppParts, classes: ExpressClasses) {
    this.#parts = parts;
    this.#classes = classes;
  }

  load(): Promise<Express> {
    this.#loading ??= this.#make();
    return this.#loading;
  }

  async #make(): Promise<Express> {
    const { createExpressApp } = await import('../express-app.ts');
    const app = createExpressApp(this.#parts);
    this.#classes.bind(app);
    this.app = app;
    return app;
  }
}
