// What the host loads of the Workroom, as one import.
export { createWorkroomAdmin } from './admin.ts';
export { readFigures } from './figures.ts';
export { noteHead } from './journal/head-note.ts';
export { DatabaseJournal } from './journal/journal.ts';
export { scrub } from './journal/scrub.ts';
export { adoptProject, openJournal } from './open-journal.ts';
export { workroomPart } from './run-part.ts';
export { Workroom } from './workroom.ts';
