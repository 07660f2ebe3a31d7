// Catalogue of error codes. Each has a title, an HTTP status and an exit code.
import { EXIT, type ExitCode } from './process/exit-codes.ts';

export interface ErrorKind {
  /** Short and stable, without data of the request (RFC 9457 `title`). */
  readonly title: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Exit code of a command. */
  readonly exit: ExitCode;
}

const kind = (title: string, status: number, exit: ExitCode = EXIT.failed): ErrorKind => ({ title, status, exit });

export const ERRORS = {
  // requests
  invalid_request: kind('The request is malformed', 400, EXIT.usage),
  invalid_token: kind('The token is not valid', 401),
  unauthorized: kind('A token is required', 401),
  bad_signature: kind('The signature is not valid', 401),
  delivery_forbidden: kind('This delivery is not for this account', 403),
  insufficient_scope: kind('The token does not reach this far', 403),
  link_invalid: kind('The link is not valid', 403),
  link_expired: kind('The link has expired', 410),
  forbidden_origin: kind('This origin is not allowed', 403),
  not_found: kind('There is nothing here', 404),
  request_timeout: kind('The request came too slowly', 408),
  method_not_allowed: kind('This method is not allowed here', 405),
  conflict: kind('The state has changed', 409),
  command_refused: kind('The board does not allow this', 409),
  precondition_failed: kind('The revision does not match', 412),
  no_restart_owner: kind('Nothing would start the worker again', 409),
  restart_required: kind('A restart is required', 409),
  restart_refused: kind('No worker would serve with configuration and code as they are', 409),
  reload_refused: kind('The new generation cannot be committed', 409),
  idempotency_conflict: kind('The idempotency key was used for another request', 409),
  history_expired: kind('The requested events are no longer kept', 410),
  body_too_large: kind('The body is too large', 413),
  uri_too_long: kind('The target is too long', 414),
  unsupported_media_type: kind('This media type is not taken here', 415),
  expectation_failed: kind('This expectation is not met', 417),
  upgrade_required: kind('This address speaks WebSocket', 426),
  too_many_requests: kind('Too many requests', 429),
  headers_too_large: kind('The header section is too large', 431),
  internal: kind('Something failed inside the host', 500),
  not_implemented_coding: kind('This transfer coding is not taken', 501),
  ingress_paused: kind('Ingress is paused', 503),
  inbox_full: kind('The inbox is full', 503),
  storage_unavailable: kind('The state store does not take writes', 503),
  journal_damaged: kind('The journal of the Workroom is damaged', 503),
  disk_budget: kind('The disk budget is used up', 503),
  platform_refused: kind('The platform refused this', 502),
  endpoint_unavailable: kind('This endpoint takes nothing now', 503),
  starting: kind('The host is starting', 503),
  draining: kind('The host is stopping', 503),
  overloaded: kind('Too much is under way', 503),
  // configuration and project
  config_invalid: kind('The configuration is invalid', 500, EXIT.config),
  secret_invalid: kind('A secret is invalid', 500, EXIT.config),
  modules_unusable: kind('The installed packages do not fit this Node', 500, EXIT.config),
  no_project: kind('No project here', 404, EXIT.failed),
  state_dir_unsafe: kind('The state folder is not safe', 500, EXIT.failed),
  already_running: kind('The project is already running', 409),
  not_running: kind('Nothing is running', 404),
  not_installed: kind('No service is installed', 404, EXIT.absent),
  schema_newer: kind('The state was written by a newer svc', 503),
  database_corrupt: kind('The database is damaged', 503),
  // recovery
  checkpoint_damaged: kind('The checkpoint is damaged', 409),
  checkpoint_foreign: kind('The checkpoint is of another project', 409),
  archive_refused: kind('The archive is not taken', 400),
  downgrade_alone: kind('Older packages alone do not fit the state', 409),
  switch_pending: kind('A switch of the state is not finished', 503, EXIT.config),
  // definitions and handlers
  definition_invalid: kind('A plugin or adapter definition is invalid', 500),
  plugin_failed: kind('A plugin failed', 500),
  usage: kind('Wrong usage', 400, EXIT.usage),
  refused: kind('Refused', 409),
  listen_failed: kind('The HTTP interface cannot listen', 500),
  timeout: kind('It took too long', 504),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;
