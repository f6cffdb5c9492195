"""Helpers that tests of more than one folder use. What one folder alone uses stays there.

Users, answers, and the state of a test:

- `users`: the cast (an admin, a researcher, two workers, a stranger), each with a test client
- `answers`: a person's answers in a campaign, by the names of texts
- `task_answers`: answers as the page of an item sends them
- `participant_states`: participants of a crowd study in each state
- `caches`: clears all caches
- `clock`: a clock that only the test moves, and waiting for a condition
- `quick_flush`: a flush of PostgreSQL that deletes rows instead of truncating all tables
- `write_count`: a version of the database within the transaction of a test
- `idle_database`: retries for checks of caches that live until the next database write

Selection of tests and cases:

- `databases`: folders and files of tests by the databases on which they run
- `samples`: samples of similar cases
- `site_links`: links of pages, followed from page to page

Studies in the database. Each docstring has the study's table:

- `factories`: a dataset with a topic, two reports and a passage, and a campaign on it
- `adjudication_study`: raters who differ, and decisions of an expert
- `agreement_study`: two annotators and a judge, with results by hand
- `api_seed`: the demo study with judges, for the server of the API's tests
- `browser_texts`: the texts, answers and password of the served site
- `assignment_pool`: an open campaign of many small reports, and people who work in it
- `certificate_study`: three people and two judges on 40 pairs, for certificates
- `campaign_builder`: a dataset with labels to draw by, and drafts of campaigns on it
- `equal_texts`: passages of which three have equal words, and the ratings of their raters
- `feedback_study`: two people who differ, and decisions that they may see
- `german_study`: a Prolific study in German, and a search for English on a page
- `grid_study`: systems with settings, on two kinds of tasks
- `judging_study`: passages to judge, judges, and graders that reply as told
- `labelling_study`: topics of which people finished some, and the judge others
- `prolific_study`: a Prolific study with all steps, and a walker that completes it
- `prolific_list`: the list of submissions that Prolific exports
- `reimport`: a dataset with work of all kinds, and its move to an empty site
- `reply_study`: replies of two judges of one model
- `retrieval_study`: runs on four topics, with results by hand
- `rubric_studies`: studies under other kinds of rubrics
- `sequence_study`: a judge and people on pairs of two systems, for label sequences
- `survey`: survey questions of a study, and answers to them
- `scoring_study`: retrieval runs, reports and a judge, with results by hand

Runs of models:

- `judging_runs`: judges and judging runs in each state, for their pages
- `judge_test_study`: a judge that has graded a small study, for its tests
- `judge_replies`: replies as models write them, by what a parser makes of them
- `mock_server`: the server of the mock model, in a thread
- `model_servers`: form data of a model server of a project
- `model_services`: fakes of twelve model services as documented
- `model_service_answers`: replies and errors in the form of each service
- `generation_runs`: collections, writers, generation runs and realistic replies
- `generation_pages`: addresses of the pages of generation runs
- `document_texts`: a document, and texts of a given length
- `writer_requests`: specs of writers, and requests to them
- `training_lines`: lines to train a small model with, and a folder like an adapter

Files:

- `import_study`: a small study in the authors' formats, and a hash of all tables
- `import_previews`: the version of a preview, for its confirmation
- `foreign_files`: folders in other formats, read and refused
- `alce_files`: results files of ALCE
- `tool_exports`: exports for annotation tools, of a study with unusual characters
- `random_ratings`: random ratings of two datasets, to compare results with plain loops
- `real_study`: the authors' study, from a folder beside the repository
- `related_papers`: data of related papers with their results, from such a folder
- `regression_cases`: small collections that once gave wrong results, from such a folder
- `message_catalogue`: messages of a .po file
- `documentation`: pages of the documentation, and a pattern of their lines of code
- `latex`: compilation of LaTeX, where it is installed
- `paths`: folders and files of the repository
- `installed_apps`: the apps of this repository

Requests and responses:

- `filter_forms`: the fields that a browser sends with the filter form of a results page
- `responses`: normalized HTML, text, links and CSV rows of a response
- `html_tables`: rows of the tables of a page, by title
- `form_data`: form data as a browser sends it
- `rubric_form`: data of the form that makes a rubric
- `text_strategies`: Hypothesis strategies for texts and spans

Processes and threads:

- `threads`: calls in threads, each with its own database connection
- `commands`: Python commands in a process of their own
- `concurrent_clients`: two clients at the same moment
- `worker_processes`: worker processes that a test kills, forked from `preload`
- `preload`: modules that the fork server loads
- `run_files`: files that the first process of a run makes for all, such as a migrated database
- `served_site`: a served site with its own database, and Chromium
- `wheels`: wheels built with uv, in empty environments
- `empty_site`: an empty site for workers in other processes
- `scripted_server`: a model server that replies as told
- `model_process`: a real model server that tests kill and restart
- `counting_proxy`: a proxy that counts requests to a model server
"""
