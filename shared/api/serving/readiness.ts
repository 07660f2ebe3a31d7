// The readiness report: answer of `/api/system/readiness`, and printed by `svc doctor --live`.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { READINESS_SCHEMA } from './readiness-schema.ts';

export const readinessCheckSchema = Type.Object({
  /** `runtime`, `database`, `endpoint:<owner>:<name>` or `agent:<binding>`. */
  component: Type.String(),
  check: Type.Union([
    Type.Literal('committed'),
    Type.Literal('initialized'),
    Type.Literal('admission_open'),
    Type.Literal('binding_configured'),
    Type.Literal('journal_open'),
  ]),
  ready: Type.Boolean(),
  reason: Type.String(),
  /** RFC 3339. Changes only when `ready` does. */
  since: Type.String(),
  remediation: Type.String(),
});

export const readinessReportSchema = Type.Object({
  schema: Type.Literal(READINESS_SCHEMA),
  ready: Type.Boolean(),
  state: Type.Union([
    Type.Literal('starting'),
    Type.Literal('ready'),
    Type.Literal('not_ready'),
    Type.Literal('draining'),
  ]),
  generation: Type.Union([Type.Integer(), Type.Null()]),
  checkedAt: Type.String(),
  project: Type.String(),
  version: Type.String(),
  runtimeId: Type.String(),
  configVersion: Type.String(),
  /** Also `paused` while the state cannot be read. */
  ingress: Type.Union([Type.Literal('open'), Type.Literal('paused')]),
  checks: Type.Array(readinessCheckSchema),
});

export type ReadinessCheck = Static<typeof readinessCheckSchema>;
export type ReadinessReport = Static<typeof readinessReportSchema>;
