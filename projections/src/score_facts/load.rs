//! One agent's facts, read in one snapshot with how far the projection is.

use domain::scores::Facts;
use domain::{AgentId, SessionId};
use serde::de::DeserializeOwned;
use store::StoreError;
use store::sql::{Database, Query, Row};

use super::NAME;
use super::count::{self, OwnFailure};
use super::rows::Subject;
use crate::query::first;

/// An agent's facts, and the position of the log up to which they are complete.
pub async fn load(views: &Database, agent: AgentId) -> Result<(Facts, i64), StoreError> {
    load_as_of(views, agent, i64::MAX).await
}

/// An agent's facts up to a position, and the position up to which they are complete: the one asked for, unless the
/// projection has not come so far.
pub async fn load_as_of(views: &Database, agent: AgentId, up_to: i64) -> Result<(Facts, i64), StoreError> {
    let noted = "select doc
                 from score_facts
                 where agent_id = $1 and position <= $2
                 order by position";
    // From the agent's tasks to their labels, along both keys; a task that came back to its agent is found twice.
    let labelled = "select l.doc
                    from score_facts f
                    join score_labels l on l.project_id = f.project_id and l.issue_number = f.issue_number
                    where f.agent_id = $1 and f.issue_number is not null and l.position <= $2
                    order by l.position";
    let failed = "select f.doc, c.doc
                  from score_commits c
                  join score_failures f on f.project_id = c.project_id and f.sha = c.sha
                  where c.agent_id = $1 and c.position <= $2 and f.position <= $2
                  order by f.position, c.position";
    let about = |sql: &'static str| Query::new(sql).bind(agent.0).bind(up_to);
    let checkpoint = Query::new("select checkpoint from projections where name = $1 and serving = 1").bind(NAME);
    let answers = views.snapshot(vec![about(noted), about(labelled), about(failed), checkpoint]).await?;
    let [noted, labelled, failed, checkpoint] = answers.as_slice() else {
        return Err(StoreError::Damaged("a snapshot has not answered every question".into()));
    };
    let position = checkpoint.first().map_or(Ok(0), |row| row.int(0))?;
    let noted = noted.iter().map(|row| record(row, 0)).collect::<Result<Vec<_>, _>>()?;
    let labelled = labelled.iter().map(|row| record(row, 0)).collect::<Result<Vec<_>, _>>()?;
    let own = |row: &Row| Ok(OwnFailure { failure: record(row, 0)?, commit: record(row, 1)? });
    let failed = failed.iter().map(own).collect::<Result<Vec<_>, StoreError>>()?;
    Ok((count::facts(noted, labelled, failed), position.min(up_to)))
}

/// Whose session it is; none if it is not known.
pub async fn agent_of_session(views: &Database, session: SessionId) -> Result<Option<AgentId>, StoreError> {
    let query = Query::new("select doc from score_subjects where id = $1").bind(session.0);
    Ok(first::<Subject>(views, query).await?.and_then(|it| it.agent_id))
}

fn record<R: DeserializeOwned>(row: &Row, column: usize) -> Result<R, StoreError> {
    serde_json::from_str(row.text(column)?)
        .map_err(|e| StoreError::Damaged(format!("score_facts holds no record: {e}")))
}
