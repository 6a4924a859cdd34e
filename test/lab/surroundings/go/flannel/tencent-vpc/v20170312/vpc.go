// Package v20170312 has the names with which flannel's backend tencent-vpc compiles, and no function: the module proxy of some networks lacks
// the module. The tests use the backends vxlan and host-gw.
package v20170312

import "errors"

var errAbsent = errors.New("this build of flannel has no backend tencent-vpc")

// Filter of a request.
type Filter struct {
	Name   *string
	Values []*string
}

// Route of a route table.
type Route struct {
	RouteId              *uint64
	DestinationCidrBlock *string
	GatewayType          *string
	GatewayId            *string
	RouteType            *string
	Enabled              *bool
}

// RouteTable of a VPC.
type RouteTable struct {
	RouteTableId *string
	RouteSet     []*Route
}

// RouteTables is the content of a response.
type RouteTables struct{ RouteTableSet []*RouteTable }

// DescribeRouteTablesRequest asks for route tables.
type DescribeRouteTablesRequest struct{ Filters []*Filter }

// DescribeRouteTablesResponse answers them.
type DescribeRouteTablesResponse struct{ Response *RouteTables }

// DeleteRoutesRequest and CreateRoutesRequest change a route table.
type DeleteRoutesRequest struct {
	RouteTableId *string
	Routes       []*Route
}

// CreateRoutesRequest adds routes.
type CreateRoutesRequest = DeleteRoutesRequest

// Client answers every request with an error.
type Client struct{}

// NewClientWithSecretId answers a client.
func NewClientWithSecretId(id, key, region string) (*Client, error) { return &Client{}, nil }

// NewDescribeRouteTablesRequest makes a request.
func NewDescribeRouteTablesRequest() *DescribeRouteTablesRequest {
	return &DescribeRouteTablesRequest{}
}

// NewDeleteRoutesRequest makes a request.
func NewDeleteRoutesRequest() *DeleteRoutesRequest { return &DeleteRoutesRequest{} }

// NewCreateRoutesRequest makes a request.
func NewCreateRoutesRequest() *CreateRoutesRequest { return &CreateRoutesRequest{} }

// DescribeRouteTables fails.
func (*Client) DescribeRouteTables(*DescribeRouteTablesRequest) (*DescribeRouteTablesResponse, error) {
	return nil, errAbsent
}

// DeleteRoutes fails.
func (*Client) DeleteRoutes(*DeleteRoutesRequest) (any, error) { return nil, errAbsent }

// CreateRoutes fails.
func (*Client) CreateRoutes(*CreateRoutesRequest) (any, error) { return nil, errAbsent }
