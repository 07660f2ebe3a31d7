// Row types of every table, for Kysely. Times are epoch milliseconds. Ids and JSON columns hold text. Positions are whole numbers in SQLite, and
// bigint (read as text) in PostgreSQL.
import type { Generated } from 'kysely';

export interface Tables {
  /** Facts of the project: project_id, epoch, ingress, … */
  meta: { key: string; value: string };
  /** Numbers that only grow: event, generation, event_oldest. */
  counters: { name: string; value: number };
  event_log: EventLogTable;
  inbox: InboxTable;
  handler_runs: HandlerRunsTable;
  once_results: {
    item_id: string;
    handler: string;
    step: string;
    state: 'called' | 'done';
    value: string | null;
    at: number;
  };
  cells: { store: string; owner: string; key: string; value: string; revision: number };
  outbox: OutboxTable;
  buttons: {
    token: string;
    endpoint: string;
    conversation: string;
    action: string;
    data: string;
    label: string;
    menu: number | null;
    created_at: number;
  };
  dialogs: { owner: string; capability: string; data: string; skipped: string; asked: string; expires_at: number };
  /** The due table: a row for each moment at which something must happen. */
  due: {
    seq: Generated<number>;
    id: string;
    kind: DueKind;
    at: number;
    capability: string | null;
    lane: string | null;
    data: string;
    /** 1: a delay from when the row was stored, as every retry is. 0: a time of day. */
    is_wait: Generated<number>;
  };
  endpoints: { endpoint: string; enabled: number | null; cursor: string | null; revision: number };
  starts: StartsTable;
  idempotency: {
    key: string;
    route: string;
    request_digest: string;
    status: number | null;
    body: string | null;
    /** JSON; null without headers, and in answers that an older svc stored. */
    headers: string | null;
    at: number;
  };
  subscriptions: { capability: string; position: number };
  files: {
    id: string;
    name: string;
    mime: string;
    bytes: number;
    created_at: number;
    /** Equal to `created_at`: the file is only a copy of a file on a platform, nobody saved it. */
    fetched_at: number | null;
  };
  /** `source`: `<endpoint>|<the platform's id>`. `id`: id of the copy. */
  fetched_files: { source: string; id: string };
  workroom_events: WorkroomEventsTable;
  /** File store alone: events that are not in the file yet. */
  workroom_spool: WorkroomEventsTable;
  /** File store alone: where an event stands. */
  workroom_places: WorkroomPlacesTable;
  /** One row with id 1: the last event of the journal. */
  workroom_head: { id: number; seq: number; hash: string };
  workroom_catalog: WorkroomCatalogTable;
  /** Open dependencies: `item` waits for `needs`. */
  workroom_needs: { item: string; blocker: string; needs: string };
  job_runs: JobRunsTable;
  /** Runs by how they ended, for counters that outlive the rows. `last_at`: the newest end. */
  run_totals: { kind: string; name: string; outcome: string; count: number; last_at: number };
  restores: RestoresTable;
  /** `facts` and `rows` are JSON. */
  acceptances: { id: number; at: number; actor: string; release: string | null; facts: string; rows: string };
  alerts: AlertsTable;
  /** An empty key: every alert of the name. */
  alert_silences: { name: string; key: string; until: number; reason: string; actor: string; at: number };
}

export type DueKind = 'task' | 'inbox' | 'outbox' | 'ingress' | 'cron' | 'job' | 'workroom';
export type InboxState = 'received' | 'handling' | 'waiting' | 'done' | 'dead';
export type InboxKind = 'arrival' | 'webhook' | 'task' | 'event' | 'cron';
export type OutboxState = 'pending' | 'sending' | 'sent' | 'waiting' | 'unknown' | 'dead';

export interface EventLogTable {
  seq: number;
  at: number;
  type: string;
  version: number;
  subject: string | null;
  endpoint: string | null;
  run_id: string | null;
  actor: string | null;
  correlation_id: string | null;
  causation_id: string | null;
  runtime_id: string;
  generation: number | null;
  data: string;
  bytes: number;
}

export interface InboxTable {
  /** Order of arrival. One process writes, so commit order is this order. */
  seq: Generated<number>;
  id: string;
  endpoint: string;
  delivery_id: string;
  /** 1 if the platform gave no delivery id: the key was made from the body. */
  weak: number;
  kind: InboxKind;
  lane: string;
  /** The one handler of a task, webhook, event or cron item. */
  capability: string | null;
  payload_version: number;
  /** Personal texts and what belongs to them. Retention erases the body; the digest stays. */
  body: string | null;
  sha256: string;
  bytes: number;
  received_at: number;
  state: InboxState;
  attempts: number;
  next_at: number | null;
  last_error: string | null;
  done_at: number | null;
  actor: string | null;
  correlation_id: string | null;
  causation_id: string | null;
  /** Replays and drops. A replay resets the attempts, so this number tells one revision from an earlier one. */
  operator_changes: Generated<number>;
  /** Deaths of the process while it ran this item. Counted when the item begins again, or is quarantined. */
  deaths: Generated<number>;
  /** Stable code of the cause of a dead item. Null: not dead, or stored by an older version. */
  code: string | null;
  /** The handler that made the item dead. Null if none did. */
  failed_handler: string | null;
}

export interface HandlerRunsTable {
  item_id: string;
  handler: string;
  attempts: number;
  /** Attempts that ended in failure. Attempts that a crash cut do not count. */
  failures: Generated<number>;
  next_at: number | null;
  verdict: 'done' | 'stop' | 'told' | 'dead' | null;
  error: string | null;
}

export interface OutboxTable {
  seq: Generated<number>;
  id: string;
  /** Idempotency key, the same on each attempt. */
  key: string;
  endpoint: string;
  conversation: string;
  kind: 'post' | 'edit' | 'remove' | 'react';
  payload_version: number;
  body: string | null;
  sha256: string;
  bytes: number;
  unsure: 'again' | 'hold';
  state: OutboxState;
  attempts: number;
  /** Attempts that ended without being sent. Attempts that a crash cut do not count. */
  failures: Generated<number>;
  next_at: number | null;
  platform_message: string | null;
  last_error: string | null;
  item_id: string | null;
  created_at: number;
  done_at: number | null;
  actor: string | null;
  correlation_id: string | null;
  causation_id: string | null;
  /** Replays and drops. A replay resets the attempts, so this number tells one revision from an earlier one. */
  operator_changes: Generated<number>;
  /** 1: an operator has dropped the send. */
  is_dropped: Generated<number>;
  /** Stable code of the cause of a dead or unknown send. Null: neither, or stored by an older version. */
  code: string | null;
}

export type JobRunState = 'running' | 'done' | 'failed' | 'cancelled' | 'skipped' | 'missed';

/** What became of a due time of a scheduled job. */
export interface JobRunsTable {
  run_id: string;
  job: string;
  /** Null: started by hand. */
  due: number | null;
  /** Set if the row stands for all due times from `due` to here. */
  until: number | null;
  /** Number of due times that the row stands for; at least so many, past 5,000. */
  count: number;
  state: JobRunState;
  reason: string | null;
  item_id: string | null;
  actor: string;
  late_ms: number;
  started_at: number;
  done_at: number | null;
}

/** A restore of this database, or the undoing of one. */
export interface RestoresTable {
  /** Name of the state that was moved aside. */
  replaced: string;
  at: number;
  purpose: 'restore' | 'undo';
  /** Name and id of the checkpoint, or of the replaced state that came back. */
  source: string;
  source_id: string;
  /** Events that were lost; items and sends that came along. */
  lost: number;
  carried: number;
  /** 1: the event is stored. */
  is_told: Generated<number>;
}

export interface StartsTable {
  runtime_id: string;
  /** Rises with each start, whatever the clock says; null in rows of an older version. */
  number: number | null;
  at: number;
  pid: number;
  owner: string;
  version: string;
  node: string;
  /** How the worker before ended, such as stopped, restart_requested, config or crashed; first if there was none. */
  previous_end: string;
  previous_code: number | null;
  previous_signal: string | null;
  previous_detail: string | null;
}

/** An alert that is pending, fires, or has changed within the last hour. */
export interface AlertsTable {
  name: string;
  /** Values of its labels; empty without labels. */
  key: string;
  /** JSON. */
  labels: string;
  severity: 'critical' | 'warning';
  phase: 'pending' | 'firing' | 'resolved';
  since: number;
  fired_at: number | null;
  quiet_since: number | null;
  value: number;
  /** What was told last. */
  told: 'firing' | 'flapping' | null;
  /** When that was. */
  notified: number | null;
  /** JSON: times at which it fired or resolved. */
  changes: string;
  is_flapping: number;
}

/** The journal. Triggers refuse every change but of `texts`. */
export interface WorkroomEventsTable {
  seq: number;
  /** `<command id>/<n>`. */
  id: string;
  stream: string;
  version: number;
  kind: string;
  at: number;
  actor: string;
  cause: string | null;
  /** Canonical JSON. */
  data: string;
  /** JSON `{field: {salt, text}}`; null without texts, or after all were erased. */
  texts: string | null;
  digest: string;
  hash: string;
}

/** Where an event stands in the files of the journal. Derived from them. */
export interface WorkroomPlacesTable {
  seq: number;
  id: string;
  stream: string;
  version: number;
  /** First number of its segment. */
  segment: number;
  offset: number;
  /** Length of the line with its LF. */
  bytes: number;
}

/** The fold of each stream. Derived: `workroom/catalog-rows.ts` makes the rows. */
export interface WorkroomCatalogTable {
  stream: string;
  kind: 'team' | 'board' | 'item';
  board: string | null;
  version: number;
  applied_seq: number;
  status: string | null;
  state: string | null;
  assignee: string | null;
  next_at: number | null;
  /** Highest number given to an item; in rows of boards. */
  last_item: Generated<number>;
  quarantined: Generated<number>;
  updated_at: number;
  data: string;
}
