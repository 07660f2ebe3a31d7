// What the host loads of the Workroom, as one import.
export { createWorkroomAdmin } from './admin.ts';
export { Figures } from './figures.ts';
export { noteHead } from './journal/head-note.ts';
export { DatabaseJournal } from './journal/journal.ts';
export { scrub } from './journal/scrub.ts';
export { adoptProject, openJournal } from './open-journal.ts';
export { planDues } from './plan-dues.ts';
export { readHead } from './read-catalog.ts';
export { workroomPart } from './run-part.ts';
export { Workroom } from './workroom.ts';
