// What the host loads of the Workroom, as one import.
export { createWorkroomAdmin } from './admin.ts';
export { noteHead } from './head-note.ts';
export { workroomPart } from './run-part.ts';
export { scrub } from './scrub.ts';
export { Workroom } from './workroom.ts';
