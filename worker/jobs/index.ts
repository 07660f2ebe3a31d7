// What the host loads of jobs, as one import.
export { createJobsAdmin } from './admin.ts';
export { previewDue } from './due-plan.ts';
export { JOBS_SLOT } from './job-item.ts';
export { Jobs } from './jobs.ts';
