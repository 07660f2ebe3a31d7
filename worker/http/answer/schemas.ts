// The wire schemas by the names that routes and the OpenAPI document use.
// Loaded with the first body or document, because TypeBox is slow to load. Type imports cost nothing.
import type { Static } from 'typebox';
import { chatMessagesSchema, chatPressSchema, chatSaySchema, chatTakenSchema } from '../../../shared/api/chat.ts';
import { endpointSchema, endpointsSchema } from '../../../shared/api/endpoint.ts';
import { eventPageSchema } from '../../../shared/api/event.ts';
import { inboxItemSchema, inboxPageSchema } from '../../../shared/api/inbox.ts';
import {
  bulkDropSchema,
  bulkReplaySchema,
  bulkResultSchema,
  causeGroupsSchema,
  dropSchema,
  holdSchema,
  replaySchema,
} from '../../../shared/api/item.ts';
import { jobEntrySchema, jobRunsSchema, jobSchema, jobStartedSchema, jobsSchema } from '../../../shared/api/job.ts';
import {
  alertSilenceSchema,
  alertsSchema,
  alertTestedSchema,
  alertTestSchema,
  alertUnsilenceSchema,
  silenceSchema,
} from '../../../shared/api/monitoring/alert.ts';
import { figuresSchema } from '../../../shared/api/monitoring/figures.ts';
import { outboxItemSchema, outboxPageSchema } from '../../../shared/api/outbox.ts';
import { problemSchema } from '../../../shared/api/problem.ts';
import { acceptanceAskSchema, acceptanceSchema } from '../../../shared/api/recovery/acceptance.ts';
import {
  checkpointBegunSchema,
  checkpointMakeSchema,
  checkpointSchema,
  checkpointsSchema,
  checkpointVerifySchema,
  restorePlanSchema,
} from '../../../shared/api/recovery/checkpoint.ts';
import { releaseSchema, releasesSchema } from '../../../shared/api/recovery/release.ts';
import {
  acceptedSchema,
  configSchema,
  echoSchema,
  healthSchema,
  ingressChangeSchema,
  ingressPreviewSchema,
  ingressSchema,
  ingressStatusSchema,
  logsSchema,
  nothingSchema,
  openapiSchema,
  pluginsSchema,
  readySchema,
  reloadedSchema,
  statusSchema,
} from '../../../shared/api/runtime.ts';
import { readinessReportSchema } from '../../../shared/api/serving/readiness.ts';
import { taskPageSchema, taskSchema } from '../../../shared/api/task.ts';
import { webhookAddressesSchema, webhookRegisteredSchema } from '../../../shared/api/webhook.ts';
import {
  joinCodeSchema,
  verificationSchema,
  workAcceptedSchema,
  workBoardsSchema,
  workCommandSchema,
  workErasedSchema,
  workErasureSchema,
  workEventsSchema,
  workItemPageSchema,
  workItemSchema,
  workMembersSchema,
  workOverviewSchema,
} from '../../../shared/api/workroom.ts';

export const schemas = {
  Acceptance: acceptanceSchema,
  AcceptanceAsk: acceptanceAskSchema,
  Accepted: acceptedSchema,
  AlertSilence: silenceSchema,
  AlertSilenceAsk: alertSilenceSchema,
  Alerts: alertsSchema,
  AlertTestAsk: alertTestSchema,
  AlertTested: alertTestedSchema,
  AlertUnsilenceAsk: alertUnsilenceSchema,
  BulkDrop: bulkDropSchema,
  BulkReplay: bulkReplaySchema,
  BulkResult: bulkResultSchema,
  CauseGroups: causeGroupsSchema,
  ChatMessages: chatMessagesSchema,
  ChatPress: chatPressSchema,
  ChatSay: chatSaySchema,
  ChatTaken: chatTakenSchema,
  Checkpoint: checkpointSchema,
  CheckpointBegun: checkpointBegunSchema,
  CheckpointMake: checkpointMakeSchema,
  Checkpoints: checkpointsSchema,
  CheckpointVerify: checkpointVerifySchema,
  Config: configSchema,
  Drop: dropSchema,
  Endpoint: endpointSchema,
  Endpoints: endpointsSchema,
  EventPage: eventPageSchema,
  Figures: figuresSchema,
  Health: healthSchema,
  Hold: holdSchema,
  InboxItem: inboxItemSchema,
  InboxPage: inboxPageSchema,
  Ingress: ingressSchema,
  IngressChange: ingressChangeSchema,
  IngressPreview: ingressPreviewSchema,
  IngressStatus: ingressStatusSchema,
  Job: jobSchema,
  JobEntry: jobEntrySchema,
  JobRuns: jobRunsSchema,
  Jobs: jobsSchema,
  JobStarted: jobStartedSchema,
  Logs: logsSchema,
  Nothing: nothingSchema,
  OpenApi: openapiSchema,
  OutboxItem: outboxItemSchema,
  OutboxPage: outboxPageSchema,
  Plugins: pluginsSchema,
  Problem: problemSchema,
  ReadinessReport: readinessReportSchema,
  Ready: readySchema,
  Release: releaseSchema,
  Releases: releasesSchema,
  Reloaded: reloadedSchema,
  Echo: echoSchema,
  Replay: replaySchema,
  RestorePlan: restorePlanSchema,
  Status: statusSchema,
  Task: taskSchema,
  TaskPage: taskPageSchema,
  WebhookAddresses: webhookAddressesSchema,
  WebhookRegistered: webhookRegisteredSchema,
  JoinCode: joinCodeSchema,
  Verification: verificationSchema,
  WorkAccepted: workAcceptedSchema,
  WorkBoards: workBoardsSchema,
  WorkCommand: workCommandSchema,
  WorkErased: workErasedSchema,
  WorkErasure: workErasureSchema,
  WorkEvents: workEventsSchema,
  WorkItem: workItemSchema,
  WorkItemPage: workItemPageSchema,
  WorkMembers: workMembersSchema,
  WorkOverview: workOverviewSchema,
} as const;

export type SchemaName = keyof typeof schemas;
export type BodyOf<N extends SchemaName> = Static<(typeof schemas)[N]>;
