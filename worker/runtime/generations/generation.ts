// A running generation: an activated candidate that serves after its commit and drains when superseded.

import type { LoadedConfig } from '../../../shared/config/load.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { within } from '../../../shared/time/abort.ts';
import type { Timer } from '../../../shared/time/clock.ts';
import type { Core } from '../../core/core.ts';
import type { EndpointSpec } from '../../endpoints/endpoint-runner.ts';
import type { Capabilities } from '../../handling/plan/capabilities.ts';
import type { GenerationView } from '../../handling/plan/generation-view.ts';
import type { Can, ConversationRef, FileRef, Language, User } from '../../sdk/index.ts';
import type { Candidate } from '../loading/assemble.ts';
import type { PluginResource } from '../loading/setup.ts';
import { type GenerationEvent, type GenerationState, stepGeneration } from './generation-machine.ts';

export interface GenerationOptions {
  readonly core: Core;
  readonly loaded: LoadedConfig;
  /** Time limit for a superseded generation to finish its running handlers. */
  readonly lifeLimitMs: number;
  readonly parts: (generation: Generation) => Readonly<Record<string, unknown>>;
  readonly fileUrl?: FileUrl;
}

/** A link to a stored file for users of that platform. Undefined if they could not open it. */
export type FileUrl = (
  file: FileRef,
  of: { readonly config: LoadedConfig['config']; readonly adapter: string },
) => string | undefined;

/** Longest drain of a superseded generation: two handlers at the default limit of 60 s. */
export const DRAIN_LIMIT_MS = 120_000;
const RESOURCE_LIMIT_MS = 30_000;
const CLOSE_LIMIT_MS = 5_000;

export class Generation implements GenerationView {
  readonly candidate: Candidate;
  readonly loaded: LoadedConfig;
  readonly #options: GenerationOptions;
  readonly #adapters: ReadonlyMap<string, EndpointSpec['adapter']>;
  readonly #names: ReadonlyMap<string, string>;
  #state: GenerationState = 'assembling';
  #number = 0;
  #running = 0;
  #servedSince = 0;
  #overdue: Timer | undefined;
  #onRetired: ((end: { readonly cut: number }) => void) | undefined;
  readonly parts: Readonly<Record<string, unknown>>;

  constructor(candidate: Candidate, options: GenerationOptions) {
    this.candidate = candidate;
    this.loaded = options.loaded;
    this.#options = options;
    this.#adapters = new Map(candidate.endpoints.map((spec) => [spec.id, spec.adapter]));
    this.#names = new Map(
      candidate.endpoints.flatMap((spec) => [[spec.id, spec.id] as const, [spec.name, spec.id] as const]),
    );
    this.parts = options.parts(this);
  }

  get number(): number {
    return this.#number;
  }
  get state(): GenerationState {
    return this.#state;
  }
  get capabilities(): Capabilities {
    return this.candidate.capabilities;
  }
  get signal(): AbortSignal {
    return this.candidate.abort.signal;
  }
  get running(): number {
    return this.#running;
  }
  get servedMs(): number {
    return this.#options.core.clock.now() - this.#servedSince;
  }
  get timezone(): string {
    return this.loaded.config.schedule.timezone;
  }
  get commands(): GenerationView['commands'] {
    const { prefix, operators } = this.loaded.config.commands;
    return {
      prefix,
      isOperator: (user: User) =>
        operators.some(
          (one) =>
            (one.endpoint === user.endpoint || this.endpoint(one.endpoint) === user.endpoint) && one.user === user.id,
        ),
    };
  }

  /** A plugin that throws, or names another language, leaves the host's own. */
  language(conversation?: ConversationRef): Language {
    for (const languageOf of this.candidate.languages) {
      if (conversation === undefined) break;
      try {
        const language = languageOf(conversation);
        if (language === 'en' || language === 'zh') return language;
      } catch {}
    }
    return this.loaded.config.host.language;
  }

  can(endpoint: string): Can | undefined {
    return this.#adapters.get(endpoint)?.can;
  }

  direct(endpoint: string, user: string): string | undefined {
    return this.#adapters.get(endpoint)?.direct?.(user);
  }

  endpoint(name: string): string {
    return this.#names.get(name) ?? name;
  }

  fileUrl(endpoint: string, file: FileRef): string | undefined {
    const adapter = this.#adapters.get(endpoint)?.name;
    const { config } = this.loaded;
    return adapter === undefined ? undefined : this.#options.fileUrl?.(file, { config, adapter });
  }

  /** Opens resources in order. If one fails, the opened ones are closed, and the error names plugin and resource. */
  async activate(): Promise<void> {
    for (const [index, resource] of this.candidate.resources.entries()) {
      try {
        await this.#open(resource);
      } catch (error) {
        this.#step('failed');
        this.#abort();
        await this.#closeResources(index);
        throw new SvcError(
          'plugin_failed',
          `resource ${resource.name} of root/${resource.slot} could not be opened: ${messageOf(error)}`,
          { cause: error, details: { plugin: resource.slot } },
        );
      }
    }
    this.#step('activated');
  }

  /** A resource that opens after its time limit is closed at once. */
  async #open(resource: PluginResource): Promise<void> {
    const opening = resource.open(this.signal);
    const end = await within(
      opening.then(() => 'open' as const),
      {
        ms: RESOURCE_LIMIT_MS,
        late: 'late' as const,
        clock: this.#options.core.clock,
      },
    );
    if (end === 'open') return;
    opening.then(() => this.#close(resource)).catch(() => {}); // a late failure to open needs no closing
    throw new Error(`it did not open within ${RESOURCE_LIMIT_MS} ms`);
  }

  committed(number: number): void {
    this.#number = number;
    this.#servedSince = this.#options.core.clock.now();
    this.#step('committed');
  }

  /** Ends a generation whose commit failed. */
  async discard(): Promise<void> {
    this.#step('failed');
    this.#abort();
    await this.#closeResources(this.candidate.resources.length);
  }

  enter(): (() => void) | undefined {
    if (this.#state !== 'serving') return undefined;
    this.#running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= 1;
      if (this.#running === 0 && this.#state === 'draining') void this.#retire('idle'); // never rejects
    };
  }

  /** Starts nothing more. Calls back once retired, with the number of cut runs. */
  supersede(onRetired: (end: { readonly cut: number }) => void): void {
    this.#onRetired = onRetired;
    this.#step('superseded');
    if (this.#running === 0) return void this.#retire('idle');
    this.#overdue = this.#options.core.clock.after(this.#options.lifeLimitMs, () => void this.#retire('overdue'));
  }

  /** Closes all resources, at the end of the process. */
  async dispose(): Promise<void> {
    this.#overdue?.cancel();
    this.#abort();
    await this.#closeResources(this.candidate.resources.length);
  }

  async #retire(event: 'idle' | 'overdue'): Promise<void> {
    if (stepGeneration(this.#state, event) === undefined) return;
    this.#step(event);
    const cut = this.#running;
    await this.dispose();
    this.#onRetired?.({ cut });
  }

  async #closeResources(count: number): Promise<void> {
    for (const resource of this.candidate.resources.slice(0, count).toReversed()) await this.#close(resource);
  }

  /** A resource that fails or does not close in time does not keep others from closing. */
  async #close(resource: PluginResource): Promise<void> {
    const fields = { plugin: resource.slot, resource: resource.name };
    const { log, clock } = this.#options.core;
    try {
      const end = await within(
        resource.close().then(() => 'closed' as const),
        { ms: CLOSE_LIMIT_MS, late: 'late' as const, clock },
      );
      if (end === 'late') log.warn(fields, `resource did not close within ${CLOSE_LIMIT_MS} ms`);
    } catch (error) {
      log.warn({ ...fields, err: error }, 'resource could not be closed');
    }
  }

  #abort(): void {
    this.candidate.abort.abort(new Error('the generation was retired'));
  }

  #step(event: GenerationEvent): void {
    this.#state = stepGeneration(this.#state, event) ?? this.#state;
  }
}
