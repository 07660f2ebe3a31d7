// Options of the engine: its environment, its observer, and the parts that tests replace.

import type { LoadedConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import type { Core } from '../core/core.ts';
import type { EndpointState } from '../endpoints/endpoint-machine.ts';
import type { EndpointSpec } from '../endpoints/endpoint-runner.ts';
import type { FileStore } from '../files/file-store.ts';
import type { RunPart } from '../handling/run/run-part.ts';
import type { ItemOutcome } from '../inbox/dispatcher.ts';
import type { InboxRow } from '../inbox/inbox-store.ts';
import type { OutboxRow } from '../outbox/outbox-store.ts';
import type { Generation } from '../runtime/generations/generation.ts';

/** Hooks for metrics and status. All are optional. */
export interface EngineObserver {
  accepted?(endpoint: string, kind: string): void;
  duplicate?(endpoint: string, conflict: boolean): void;
  handled?(row: Pick<InboxRow, 'id' | 'endpoint'>, outcome: ItemOutcome): void;
  sent?(row: OutboxRow, verdict: string): void;
  pressRefused?(endpoint: string): void;
  /** A reaction was dropped because the platform has none. */
  reactionDropped?(endpoint: string): void;
  pluginFailed?(slot: string): void;
  counted?(counter: string, labels: Readonly<Record<string, string>>): void;
  endpointChanged?(spec: EndpointSpec, state: EndpointState): void;
  served?(generation: Generation): void;
  secrets?(texts: readonly string[]): void;
}

export interface EngineOptions {
  readonly core: Core;
  readonly project: string;
  readonly mode: Mode;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly loaded: LoadedConfig;
  readonly lockfile: string;
  readonly mediaFolder: string;
  /** Reads the signing key of file links at the first link. Left out: there are no links. */
  readonly linkKey?: () => Buffer;
  readonly observer: EngineObserver;
  /** Throws while arrivals of accounts cannot be stored (storage failure, disk budget). */
  readonly admit: () => void;
  readonly modules?: Readonly<Record<string, unknown>>;
  readonly lifeLimitMs?: number;
  readonly random?: () => number;
  /** Storage of files. Default: the media folder. */
  readonly files?: FileStore;
  /** The part `workroom`, for plugins of a Workroom. */
  readonly workroom?: RunPart;
  /** Further parts of the host, for plugins that name them in `uses`. */
  readonly parts?: Readonly<Record<string, unknown>>;
  /** Wraps each handling of an item. */
  readonly around?: (handle: () => Promise<ItemOutcome>) => Promise<ItemOutcome>;
}
