//! Publish a message of an agent to others.

use chrono::{DateTime, Utc};

use super::{
    Advice, Caller, OpenSession, ProblemReport, Question, ReviewRequest, ReviewResponse, Session, SessionError,
    SessionEvent,
};
use crate::AgentId;
use crate::distinct::each_once;

/// Tells other agents something. That those mentioned are the workspace's was checked where they were looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Publish {
    /// Who asks.
    pub by: Caller,
    /// What is said.
    pub publication: Publication,
    /// Who is to hear of it.
    pub mentions: Vec<AgentId>,
    /// The agent that hears of the author's problems and questions.
    pub supervisor_agent_id: Option<AgentId>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Publication {
    /// A problem, which the supervisor hears of too.
    Problem(ProblemReport),
    /// Advice, which only organization agents give.
    Advice(Advice),
    /// A question, which the supervisor hears of too.
    Question(Question),
    /// A request for a review of one's own work.
    ReviewRequest(ReviewRequest),
    /// A review of one's own making.
    ReviewResponse(ReviewResponse),
}

pub(crate) fn decide(session: &Session, command: Publish) -> Result<Vec<SessionEvent>, SessionError> {
    let open = session.admit(command.by)?;
    let Publish { by: _, publication, mentions, supervisor_agent_id, now: published_at } = command;
    let mentioned = |also: Option<AgentId>| each_once(mentions.into_iter().chain(also));
    Ok(vec![match publication {
        Publication::Problem(content) => {
            SessionEvent::ProblemReported { content, mentions: mentioned(supervisor_agent_id), published_at }
        }
        Publication::Advice(_) if !open.is_organization_level => return Err(SessionError::NotOrganizationLevel),
        Publication::Advice(content) => SessionEvent::AdviceGiven { content, mentions: mentioned(None), published_at },
        Publication::Question(content) => {
            SessionEvent::QuestionAsked { content, mentions: mentioned(supervisor_agent_id), published_at }
        }
        Publication::ReviewRequest(content) => {
            speaks_for_itself(open, content.requested_by.agent_id)?;
            SessionEvent::ReviewRequested { content, mentions: mentioned(None), published_at }
        }
        Publication::ReviewResponse(content) => {
            speaks_for_itself(open, content.reviewer.agent_id)?;
            SessionEvent::ReviewResponded { content, mentions: mentioned(None), published_at }
        }
    }])
}

fn speaks_for_itself(session: &OpenSession, author: AgentId) -> Result<(), SessionError> {
    if author == session.agent_id { Ok(()) } else { Err(SessionError::SpeaksForAnother(author)) }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{
        advice, by_dev, problem, question, review_request, review_response, started, started_by_lead, stopped,
    };
    use super::*;
    use crate::examples::{at, given, id};
    use crate::session::{NamedAgent, SessionCommand};

    fn publish(publication: Publication) -> Publish {
        let mentions = vec![id(31), id(32), id(31)];
        Publish { by: by_dev(), publication, mentions, supervisor_agent_id: Some(id(33)), now: at(2) }
    }

    fn every_publication() -> [Publication; 5] {
        [
            Publication::Problem(problem()),
            Publication::Advice(advice()),
            Publication::Question(question()),
            Publication::ReviewRequest(review_request()),
            Publication::ReviewResponse(review_response()),
        ]
    }

    #[test]
    fn each_publication_is_a_fact_of_the_session() {
        let (mentions, published_at) = (vec![id(31), id(32)], at(2));
        let with_supervisor = vec![id(31), id(32), id(33)];
        let expected = [
            SessionEvent::ProblemReported { content: problem(), mentions: with_supervisor.clone(), published_at },
            SessionEvent::AdviceGiven { content: advice(), mentions: mentions.clone(), published_at },
            SessionEvent::QuestionAsked { content: question(), mentions: with_supervisor, published_at },
            SessionEvent::ReviewRequested { content: review_request(), mentions: mentions.clone(), published_at },
            SessionEvent::ReviewResponded { content: review_response(), mentions, published_at },
        ];
        for (publication, event) in every_publication().into_iter().zip(expected) {
            given::<Session>([started_by_lead()])
                .when(SessionCommand::Publish(publish(publication)))
                .then_expect_events(vec![event]);
        }
    }

    #[test]
    fn only_organization_agents_give_advice() {
        given::<Session>([started()])
            .when(SessionCommand::Publish(publish(Publication::Advice(advice()))))
            .then_expect_error(SessionError::NotOrganizationLevel);
    }

    #[test]
    fn an_agent_reviews_and_asks_for_reviews_in_its_own_name() {
        let other = NamedAgent { agent_id: id(31), agent_name: "Dev Two".to_owned() };
        let request = ReviewRequest { requested_by: other.clone(), ..review_request() };
        let response = ReviewResponse { reviewer: other, ..review_response() };
        for publication in [Publication::ReviewRequest(request), Publication::ReviewResponse(response)] {
            given::<Session>([started()])
                .when(SessionCommand::Publish(publish(publication)))
                .then_expect_error(SessionError::SpeaksForAnother(id(31)));
        }
    }

    #[test]
    fn a_session_that_is_over_publishes_nothing() {
        for publication in every_publication() {
            given::<Session>([started_by_lead(), stopped()])
                .when(SessionCommand::Publish(publish(publication)))
                .then_expect_error(SessionError::AlreadyStopped);
        }
    }

    #[test]
    fn another_agent_publishes_nothing_here() {
        let by = Caller { agent_id: id(31), ..by_dev() };
        let command = Publish { by, ..publish(Publication::Problem(problem())) };
        given::<Session>([started()]).when(SessionCommand::Publish(command)).then_expect_error(SessionError::Mismatch);
    }
}
